// A number of sends over 64 connections, as fast as they are answered.
import { HTTP, holds } from './http.ts'
import { SENDERS } from './letters.ts'
import type { Mailbox } from './peers/mailbox.ts'
import { connect } from './wire.ts'

/** Sends `count` messages; returns sends per second. Rejects at the first refusal. */
export async function stream(mailbox: Mailbox, next: () => Buffer, count: number): Promise<number> {
  const good = holds('"message_id":"m4a_')
  const done = Promise.withResolvers<void>()
  let left = count
  let stored = 0
  const start = performance.now()
  for (let i = 0; i < SENDERS; i++) {
    const connection = await connect(mailbox.port, HTTP, (reply) => {
      if (!good(reply)) return done.reject(new Error(`refused: ${reply.toString()}`))
      if (++stored === count) done.resolve()
      if (left-- > 0) connection.send(next())
      else connection.close()
    })
    if (left-- > 0) connection.send(next())
    else connection.close()
  }
  await done.promise
  return count / ((performance.now() - start) / 1000)
}
