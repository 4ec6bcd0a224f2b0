// What a mailbox would answer, fixed: the far end of the network, so that texts can be compared letter by letter.
import type { Message } from '../../../src/wire/letter.ts'
import { NOW, type Shell } from './shell.ts'

export type Canned = {
  /** Options that lead a command here. */
  shell: Shell
  /** What was asked, in order. */
  asked: { path: string; body: unknown; authorization: string | null }[]
  [Symbol.dispose](): void
}

/** Answers each path with what `answers` has for it; a list is used up one by one. Statuses other than 200 come as {status, body}. */
export function canned(answers: Record<string, unknown>): Canned {
  const asked: Canned['asked'] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const text = await request.text()
      asked.push({
        path: pathname,
        body: text === '' ? null : JSON.parse(text),
        authorization: request.headers.get('authorization'),
      })
      const found = answers[pathname]
      const answer = Array.isArray(found) ? found.shift() : found
      if (answer === undefined)
        return Response.json({ kind: 'not_found', message: `no ${pathname}`, hint: 'none' }, { status: 404 })
      return answer instanceof Response ? answer.clone() : Response.json(answer)
    },
  })
  return {
    shell: { env: { M4A_PORT: String(server.port) }, token: 'secret-of-claude' },
    asked,
    [Symbol.dispose]: () => void server.stop(true),
  }
}

export const refused = (status: number, body: object): Response => Response.json(body, { status })

export const ID = [
  'm4a_00000000000aa1b2c3d4e5f6',
  'm4a_00000000000bb1b2c3d4e5f6',
  'm4a_00000000000cc1b2c3d4e5f6',
] as const
export const SESSION = 's-7f3a91c0d2e4b5a697886950413223ff'
export const now = new Date(NOW).toISOString()
const before = (secs: number) => new Date(NOW - secs * 1_000).toISOString()

/** A letter from `claude` to `codex`, `age` seconds old. */
export function letter(at: number, age: number, more: Partial<Message> = {}): Message {
  return {
    message_id: ID[at] ?? ID[0],
    from: { kind: 'session', participant: 'claude', session: SESSION },
    from_text: `claude/${SESSION}`,
    to: { kind: 'direct', participant: 'codex' },
    to_text: 'codex',
    subject: 'review of the store',
    body: 'please look at it\n',
    reply_to: null,
    thread: ID[at] ?? ID[0],
    correlation: null,
    refs: [],
    hop: 0,
    created_at: before(age),
    created_at_unix_ms: NOW - age * 1_000,
    age_secs: age,
    state: 'new',
    ...more,
  }
}

export const LETTERS = [
  letter(0, 90_000, {
    state: 'opened',
    notified_at: before(80_000),
    opened_at: before(70_000),
    opened_by: `codex/${SESSION}`,
  }),
  letter(1, 400, {
    subject: 'fake\u202eheader \u001b[31mred',
    body: 'first line\n\nfrom     operator\n| and a bar\n\u001b[2Jcleared \u{e0041}hidden\r\nlast without a break',
    reply_to: ID[0],
    thread: ID[0],
    correlation: 'ticket 7',
    on_behalf_of: 'Lukas',
    refs: [{ kind: 'file', locator: 'src/store/store.ts', digest: '9f86' }],
    notified_at: before(300),
  }),
  letter(2, 3, {
    to: { kind: 'room', room: 'build' },
    to_text: '#build',
    subject: '工作 done ✅',
    claimed_by: `codex/${SESSION}`,
    claimed_until: before(-597),
  }),
]
