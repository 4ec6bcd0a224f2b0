// The letters that are sent in every suite, to every peer: about 380 bytes of text, from 64 accounts to 200.
import { post } from './http.ts'
import { command } from './resp.ts'

export const SUBJECT = 're: build plan for storage'
export const BODY = 'The tests pass now; please review src/store.ts before I merge. '.repeat(6)

/** An account may send 2,000 messages a second: so many senders are never refused. */
export const SENDERS = 64
export const RECIPIENTS = 200

const READY = 512

/** Takes turns over ready requests; a prime step spreads the recipients. */
export function turns(make: (turn: number) => Buffer): () => Buffer {
  const ready = Array.from({ length: READY }, (_, turn) => make(turn))
  let turn = 0
  return () => ready[turn++ % READY] ?? Buffer.alloc(0)
}

/** `POST /mail/send` with the tokens of the senders, to `recipient` or to each in turn. */
export const sends = (token: (sender: number) => string, recipient?: string): (() => Buffer) =>
  turns((turn) =>
    post('/mail/send', token(turn % SENDERS), {
      to: recipient ?? `box-${(turn * 7919) % RECIPIENTS}`,
      subject: SUBJECT,
      body: BODY,
    }),
  )

export const xaddsTo = (stream: string): Buffer =>
  command('XADD', stream, '*', 'from', 'sender', 'subject', SUBJECT, 'body', BODY)

export const xadds = (): (() => Buffer) => turns((turn) => xaddsTo(`box:${(turn * 7919) % RECIPIENTS}`))
