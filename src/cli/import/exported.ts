// A line of an export, as it is to be carried in: checked before it is sent, so that one bad line does not fail its neighbours.
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { checkRequest } from '../../door/validate.ts'
import { parseAddress } from '../../wire/address.ts'
import { nullable } from '../../wire/letter.ts'
import { LIMITS } from '../../wire/limits.ts'
import { Name } from '../../wire/names.ts'
import { Refusal } from '../../wire/refusal.ts'
import { ExportedLetter, type ImportCopy, ImportLetter } from '../../wire/transfer.ts'

export const FORMAT = 'mail4agent-export'
export const FORMAT_VERSION = 1

const Label = nullable(Type.String({ maxLength: LIMITS.label }))
const Header = Type.Object({
  type: Type.Literal('header'),
  format: Type.String(),
  version: Type.Integer(),
  /** For people; they are not looked at. */
  exported_at: Type.Optional(Type.String()),
  scope: Type.Optional(Type.String()),
})
const AccountLine = Type.Object({ type: Type.Literal('account'), id: Name, label: Label, kind: Type.String() })
export type AccountLine = Static<typeof AccountLine>
const RoomLine = Type.Object({ type: Type.Literal('room'), id: Name, label: Label, members: Type.Array(Name) })
export type RoomLine = Static<typeof RoomLine>
const End = Type.Object({ type: Type.Literal('end'), letters: Type.Integer() })

export type Line =
  | Static<typeof Header>
  | AccountLine
  | RoomLine
  | ({ type: 'message' } & ExportedLetter)
  | Static<typeof End>

const OTHERS = new Map<unknown, TSchema>([
  ['header', Header],
  ['account', AccountLine],
  ['room', RoomLine],
  ['end', End],
])

const ms = (time: string | undefined): number | null => (time === undefined ? null : Date.parse(time))

/** Of another machine: with its name behind. */
const fullName = ({ participant, machine }: { participant: string; machine?: string }): string =>
  machine === undefined ? participant : `${participant}@${machine}`

/** `null` copies are those of accounts that were removed. Throws a Refusal where the letter cannot be one of this mailbox. */
export function importOf(letter: ExportedLetter): ImportLetter {
  const { from, deliveries } = letter
  if (from.kind === 'room') throw new Refusal('malformed', 'from: is a room')
  const asked: ImportLetter = {
    key: letter.message_id,
    from: fullName(from),
    subject: letter.subject,
    body: letter.body,
    created_at_unix_ms: letter.created_at_unix_ms,
    thread: letter.thread,
    reply_to: letter.reply_to,
    correlation: letter.correlation,
    refs: letter.refs,
    hop: letter.hop,
    on_behalf_of: letter.on_behalf_of ?? null,
    deliveries: deliveries.flatMap((copy): ImportCopy[] => {
      const address = parseAddress(copy.to_text)
      const to = copy.participant ?? (address.kind === 'room' ? null : fullName(address))
      if (to === null) return []
      return [
        {
          to,
          room: address.kind === 'room' ? address.room : null,
          state: copy.state,
          notified_at_unix_ms: ms(copy.notified_at),
          opened_at_unix_ms: ms(copy.opened_at),
          closed_at_unix_ms: ms(copy.closed_at),
          close_reason: copy.close_reason ?? null,
          updates: copy.updates ?? null,
        },
      ]
    }),
  }
  const fault = checkRequest(ImportLetter, asked)
  if (fault) throw fault
  return asked
}

/** What a line says. Throws an Error that says what is wrong with it. */
export function lineOf(text: string): Line {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || !('type' in value)) throw new Error('is no line of an export')
  const { type, ...letter } = value
  const schema = OTHERS.get(type)
  if (type !== 'message' && schema === undefined)
    throw new Error(`has the unknown type ${JSON.stringify(type)?.slice(0, 50)}`)
  const fault = schema === undefined ? checkRequest(ExportedLetter, letter) : checkRequest(schema, value)
  if (fault) throw fault
  return value as Line // it has just been checked
}
