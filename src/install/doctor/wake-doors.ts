// Of each agent that runs: does mail wake it now, through which door, and if none is ready, what each door says.
import { doorStates } from '../../client/door-states.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { PlannedDoor, WakePolicy } from '../../wire/wake.ts'
import { asOperator } from './callers.ts'
import type { Checkup } from './checkup.ts'
import type { DoorProbe } from './doors.ts'
import { type Found, fine, warn } from './finding.ts'
import { isAgent } from './readers.ts'

/** Tiers of doors that only keep the letter where the agent looks. */
const KEEPING: ReadonlySet<string> = new Set(['hook', 'notice', 'spool'])

/** Where nobody may ask, or no mailbox answers, the finding about doorbells says so. */
export const wakeDoors: DoorProbe = { name: 'wake', look }

async function look(checkup: Checkup): Promise<Found[]> {
  const { health } = await checkup.presence()
  if (health === null) return []
  // before anybody is asked: the clients that are tried meanwhile are sessions of their accounts too
  const readers = await checkup.readers()
  if (readers instanceof Refusal) return []
  const live = readers.participants
    .filter(({ kind }) => kind === 'agent')
    .map(({ id, sessions }) => ({
      id,
      sessions: sessions.filter((one) => one.live && isAgent(one)).map((one) => one.id),
    }))
    .filter(({ sessions }) => sessions.length > 0)
  if (live.length === 0) return []
  const answer = await asOperator(checkup, async (mailbox) => ({
    doors: await doorStates(mailbox),
    policies: (await mailbox.admin('wake/status', { limit: 1 })).wakes,
  }))
  if (answer instanceof Refusal) return []
  return live.map(({ id, sessions }) => {
    const doors = answer.doors.filter(
      ({ account, session }) => account === id && (session === null || sessions.includes(session)),
    )
    const policy = answer.policies.find(({ account }) => account === id)?.policy ?? null
    return { ...wakeFinding(checkup.call, id, doors, policy), of: id }
  })
}

/** `doors`: in the order in which they are tried; `policy`: null where the account has gone meanwhile. */
export function wakeFinding(
  call: string,
  account: string,
  doors: readonly PlannedDoor[],
  policy: WakePolicy | null,
): Found {
  if (policy !== null && policy.damaged !== null)
    return warn(
      `nothing wakes ${account}, as its policy cannot be read: ${policy.damaged}`,
      `${call} wake status ${account}`,
    )
  if (policy !== null && (!policy.enabled || policy.mode === 'off'))
    return fine(`mail does not wake ${account}, as was set`)
  const ready = doors.find((door) => door.ready)
  if (ready) {
    const { door, tier, session, busy } = ready
    const what = KEEPING.has(tier)
      ? `mail waits for ${account} at ${door}, which starts no turn of it: an idle agent is not woken`
      : `mail wakes ${account} through ${door}${busy ? ', and it is at work' : ''}`
    return fine(what, { door, tier, session, busy })
  }
  const whys = [...new Set(doors.map(({ door, why }) => `${door}: ${why ?? 'not ready'}`))]
  return warn(
    `mail cannot wake ${account}: ${whys.length === 0 ? 'there is no door to it' : whys.join('; ')}`,
    `${call} wake plan ${account}`,
    { doors: doors.map(({ door, session, why }) => ({ door, session, why })) },
  )
}
