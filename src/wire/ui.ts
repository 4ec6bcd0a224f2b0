// Logging in to the web page: a one-time link for whoever has an account's token, a key for the browser that opens it.
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { nullable } from './letter.ts'
import { Name } from './names.ts'
import { Timestamp } from './time.ts'

const strict = { additionalProperties: false }

/** path below /ui/ → request and answer. */
export const UI = {
  link: {
    summary: 'a one-time link to the page; for persons and operators, with their token',
    request: Type.Object(
      {
        login_secs: Type.Optional(
          nullable(Type.Integer({ minimum: 1, maximum: 43_200, description: 'how long the login lasts at most' })),
        ),
      },
      strict,
    ),
    answer: Type.Object({
      url: Type.String({ description: 'the page with the secret in its fragment, which browsers send to nobody' }),
      expires_at: Timestamp,
    }),
  },
  login: {
    summary: 'exchange the secret of a link for a key; once, within a minute; needs no bearer',
    request: Type.Object({ secret: Type.String({ pattern: '^[0-9a-f]{64}$' }) }, strict),
    answer: Type.Object({
      key: Type.String({ description: 'the bearer of the page, for as long as it lasts' }),
      account: Name,
      expires_at: Timestamp,
    }),
  },
  logout: {
    summary: 'end the login that the page calls with; with an account’s token, every login of the account',
    request: Type.Object({}, strict),
    answer: Type.Object({ ended: Type.Integer() }),
  },
} as const satisfies Record<string, { summary: string; request: TSchema; answer: TSchema }>

export type UiRoute = keyof typeof UI
export type UiRequest<R extends UiRoute> = Static<(typeof UI)[R]['request']>
export type UiAnswer<R extends UiRoute> = Static<(typeof UI)[R]['answer']>
