// Mail from the mailbox itself to its operators: written by an account that no token can be, stored like any other letter.
import { KIND } from '../store/rows.ts'
import { fragmentOf } from './fragment.ts'
import type { Mail } from './mail.ts'

/** `key`: a second letter with it is the first. `upsert`: one that nobody has closed is replaced by a later one with it. */
export type Notice = { key: string; upsert: string | null; subject: string; body: string }

/** Resolves once it is on the disk; to no one where there is no operator. Rejects with the refusals of the store. */
export async function tellOperators(mail: Mail, { key, upsert, subject, body }: Notice): Promise<void> {
  const { store } = mail
  const operators = store.registry.accounts().filter(({ can }) => can.operator)
  if (operators.length === 0) return
  const { account, session } = await store.people.system()
  const names = operators.map(({ name }) => name)
  await store.send({
    account,
    session,
    scope: 0,
    thread: 0,
    parent: null,
    hop: 0,
    recipients: operators.map(({ name, box, id }) => ({ text: name, kind: KIND.account, box, account: id, room: 0 })),
    fragment: fragmentOf(account.name, session.name, null, {
      subject,
      body,
      replyTo: null,
      correlation: null,
      refs: [],
      hop: 0,
      onBehalfOf: null,
      wakeSuppressed: null,
      recipients: names.length > 1 ? names : null,
    }),
    idempotency: { key, hash: new Bun.CryptoHasher('sha256').update(subject).update('\0').update(body).digest('hex') },
    upsert,
    close: null,
  })
}
