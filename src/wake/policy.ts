// May this letter wake that mailbox? Only what the policy says counts, and what the letter is; nothing that it asks for.
import { KIND, type Kind } from '../store/rows.ts'
import { canonical } from '../wire/names.ts'
import type { WakePolicy } from '../wire/wake.ts'

export type Asking = {
  readonly kind: Kind
  /** Account of the sender, with `@machine` where it is another one. */
  readonly from: string
  readonly subject: string
  readonly body: string
}

/** Why the letter may not wake `account`, for people; null: it may. */
export function forbids(policy: WakePolicy, account: string, letter: Asking): string | null {
  if (policy.damaged !== null) return `the policy is damaged (${policy.damaged})`
  if (!policy.enabled) return 'waking is switched off'
  const from = canonical(letter.from)
  if (policy.block.some((name) => canonical(name) === from)) return 'the sender is blocked'
  if (policy.allow !== null && !policy.allow.some((name) => canonical(name) === from))
    return 'the sender is not among those allowed'
  switch (policy.mode) {
    case 'off':
      return 'the mode is off'
    case 'direct':
      return letter.kind === KIND.room ? 'room mail, and the mode is direct' : null
    case 'mention':
      return letter.kind !== KIND.room || mentions(letter, account) ? null : 'room mail that does not mention it'
    case 'all':
      return null
  }
}

/** `@name` in the subject or the body, or a text that begins with `name:` or `name,`. `@names` and `a@name` are none. */
export function mentions({ subject, body }: Pick<Asking, 'subject' | 'body'>, account: string): boolean {
  const name = account.replaceAll(/[.+]/g, '\\$&')
  const at = new RegExp(`(?<![A-Za-z0-9._+-])@${name}(?![A-Za-z0-9_+-]|\\.[A-Za-z0-9])`, 'i')
  const called = new RegExp(`^\\s*${name}\\s*[:,]`, 'i')
  return at.test(subject) || at.test(body) || called.test(subject) || called.test(body)
}
