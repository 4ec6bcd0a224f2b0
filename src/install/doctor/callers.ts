// As whom the doctor asks a running mailbox: its operator where it may, else any account whose secret is here.
import type { MailClient } from '../../client/client.ts'
import { canonical } from '../../wire/ids.ts'
import { Refusal } from '../../wire/refusal.ts'
import { CLIENT_NAMES } from '../client.ts'
import type { Checkup } from './checkup.ts'

export const OPERATOR = 'operator'

/** Asks as the operator. A refusal is an answer: there is no key, or an agent runs us and may not speak as its person. */
export async function asOperator<A>(checkup: Checkup, ask: (mailbox: MailClient) => Promise<A>): Promise<A | Refusal> {
  return asOneOf(checkup, [OPERATOR], ask)
}

/**
 * Asks as the first account that the mailbox takes: an agent that runs us as itself, and then it is seen, because it runs; for a
 * person at a terminal clients' accounts come last, and none of them is seen.
 */
export async function asAnybody<A>(checkup: Checkup, ask: (mailbox: MailClient) => Promise<A>): Promise<A | Refusal> {
  const isClient = (name: string) => CLIENT_NAMES.some((client) => client === canonical(name))
  const others = checkup.tokenNames().filter((name) => canonical(name) !== OPERATOR)
  const order = [...others.filter((name) => !isClient(name)), ...others.filter(isClient)]
  const self = await checkup.self()
  return asOneOf(checkup, [...(self === null ? [] : [self]), OPERATOR, ...order], ask, self)
}

async function asOneOf<A>(
  checkup: Checkup,
  names: readonly string[],
  ask: (mailbox: MailClient) => Promise<A>,
  self: string | null = null,
): Promise<A | Refusal> {
  let refusal = new Refusal('which_account', 'no account has its token here')
  for (const name of names) {
    let mailbox: MailClient | null = null
    try {
      const token = checkup.token(name)
      if (token === null) continue
      mailbox = checkup.open(token, name !== self)
      return await ask(mailbox)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      refusal = error
    } finally {
      mailbox?.close()
    }
  }
  return refusal
}
