// Where the operator of the first start is none any more: the way out is to act as another one.
import { MailClient } from '../client/client.ts'
import { CLIENT_NAMES } from '../install/client.ts'
import { canonical } from '../wire/ids.ts'
import { Refusal } from '../wire/refusal.ts'
import type { FoundToken } from './account.ts'
import { type Place, routeTo } from './place.ts'
import { OPERATOR, storedToken, tokenNames } from './token-files.ts'

/** Accounts that are asked: a refusal must not take long. */
const MOST = 20

/**
 * The same refusal with a hint that names `--as` and an operator, where the account of the first start was refused because it
 * is gone, has another token, or is no operator.
 */
export async function withOperator(refusal: Refusal, token: FoundToken, place: Place): Promise<Refusal> {
  const { kind, message, facts, hint } = refusal
  const isOut = kind === 'unauthenticated' || (kind === 'permission_denied' && facts.need === 'mail:operator')
  if (!isOut || token.account === null || canonical(token.account) !== OPERATOR) return refusal
  const [other] = await operatorsHere(place)
  const way =
    other === undefined
      ? 'choose another operator with --as <account>'
      : `${other} is an operator: say it again with --as ${other}`
  return new Refusal(kind, message, facts, kind === 'unauthenticated' ? `${way}; ${hint}` : way)
}

async function operatorsHere(place: Place): Promise<string[]> {
  const clients: readonly string[] = CLIENT_NAMES
  const names = tokenNames(place.dataDir).filter((name) => ![OPERATOR, ...clients].includes(canonical(name)))
  const asked = await Promise.all(
    names.slice(0, MOST).map(async (name) => ((await isOperator(place, name)) ? [name] : [])),
  )
  return asked.flat()
}

async function isOperator(place: Place, name: string): Promise<boolean> {
  let client: MailClient | null = null
  try {
    const token = storedToken(place.dataDir, name)
    if (token === null) return false
    client = new MailClient({ ...routeTo(place), token })
    return (await client.call('whoami', {}, { timeoutMs: 3_000 })).capabilities.includes('operator')
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  } finally {
    client?.close()
  }
}
