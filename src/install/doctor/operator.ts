// The operator of the first start: does its key, with which bare admin commands act, still open anything?

import { canonical } from '../../wire/ids.ts'
import { LIMITS } from '../../wire/limits.ts'
import { Refusal } from '../../wire/refusal.ts'
import { CLIENT_NAMES } from '../client.ts'
import { asOperator, OPERATOR } from './callers.ts'
import type { Checkup } from './checkup.ts'
import { type Found, fail, fine } from './finding.ts'

export async function operator(checkup: Checkup): Promise<Found> {
  const { call } = checkup
  const { health } = await checkup.presence()
  if (health === null) return fine('not asked, as no mailbox answers')
  const answer = await asOperator(checkup, (mailbox) => mailbox.call('whoami', {}))
  if (!(answer instanceof Refusal) && answer.capabilities.includes('operator')) return fine('its key is here and works')
  if (answer instanceof Refusal && answer.kind !== 'unauthenticated')
    return fine(`not looked at: ${answer.message}`, { kind: answer.kind })
  const others = await operatorsHere(checkup)
  const [other] = others
  const facts = { operators: others }
  const as = other === undefined ? '--as <an operator>' : `--as ${other}`
  if (answer instanceof Refusal)
    return fail(
      'its key is here, but the mailbox knows no such token: the account was removed or its token replaced',
      `act as another operator: ${call} admin account list ${as}`,
      facts,
    )
  return fail(
    'its account is no operator any more, so bare admin commands are refused',
    `${call} admin account set ${OPERATOR} --can operator ${as}`,
    facts,
  )
}

/** The accounts with a token here that are operators; of very many only some are asked. */
async function operatorsHere(checkup: Checkup): Promise<string[]> {
  const clients: readonly string[] = CLIENT_NAMES
  const names = checkup.tokenNames().filter((name) => ![OPERATOR, ...clients].includes(canonical(name)))
  const operators: string[] = []
  for (const name of names.slice(0, LIMITS.pageMax)) {
    const token = tokenOf(checkup, name)
    if (token === null) continue
    const mailbox = checkup.open(token, true)
    try {
      if ((await mailbox.call('whoami', {})).capabilities.includes('operator')) operators.push(name)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
    } finally {
      mailbox.close()
    }
  }
  return operators
}

function tokenOf(checkup: Checkup, name: string): string | null {
  try {
    return checkup.token(name)
  } catch {
    return null // a file that others may read is a finding elsewhere
  }
}
