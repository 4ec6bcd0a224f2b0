// The doors by which an idle agent is woken: doorbells that the operator set, and what each kind of door says of itself.
import { Refusal } from '../../wire/refusal.ts'
import { asOperator } from './callers.ts'
import type { Checkup } from './checkup.ts'
import { type Found, fine, warn } from './finding.ts'
import { wakeDoors } from './wake-doors.ts'

/** A kind of wake door, as the doctor asks it; each finding names the door with `of`. */
export interface DoorProbe {
  readonly name: string
  look(checkup: Checkup): Promise<Found[]>
}

/** Every kind of door that can be asked. */
export const DOOR_PROBES: readonly DoorProbe[] = [wakeDoors]

export async function doors(checkup: Checkup): Promise<Found[]> {
  const probed = await Promise.all(DOOR_PROBES.map((probe) => probe.look(checkup)))
  return [...(await doorbells(checkup)), ...probed.flat()]
}

async function doorbells(checkup: Checkup): Promise<Found[]> {
  const { call } = checkup
  const { health } = await checkup.presence()
  if (health === null) return [fine('not asked, as no mailbox answers')]
  const answer = await asOperator(checkup, (mailbox) => mailbox.admin('listener/list', {}))
  if (answer instanceof Refusal)
    return [fine(`not looked at: only an operator may (${answer.message})`, { kind: answer.kind })]
  if (answer.listeners.length === 0) return [fine('no doorbell is set', { listeners: 0 })]
  return answer.listeners.map((listener) => {
    const { account, url, pending, last_ok, last_error, last_error_at } = listener
    const failing = last_error_at !== null && (last_ok === null || Date.parse(last_error_at) > Date.parse(last_ok))
    const rung = last_ok === null ? 'not rung yet' : `last rung ${last_ok}`
    if (!failing) return { ...fine(`the doorbell of ${account} at ${url}: ${rung}`, { ...listener }), of: account }
    const waiting = pending === 0 ? '' : `; ${pending} rings wait`
    const todo = `start the program that listens there, or: ${call} admin listener remove ${account}`
    const what = `the doorbell of ${account} at ${url} fails: ${last_error ?? 'no reason given'}${waiting}`
    return { ...warn(what, todo, { ...listener }), of: account }
  })
}
