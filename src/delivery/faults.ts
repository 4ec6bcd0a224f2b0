// Faults of the mailbox itself: the operator gets one letter for each, and no other until it is over and comes again.
import type { Mail } from '../engine/mail.ts'
import { tellOperators } from '../engine/system.ts'
import { becauseOf, isUnread, ownerOfBox, stillFails } from '../engine/wake/failing.ts'
import type { FaultRow } from '../store/people/people.ts'
import type { NewWake } from '../store/wake/wakes.ts'
import { rfc3339 } from '../wire/time.ts'

/** What is wrong now. `name` stays the same as long as it is the same fault. */
export type Fault = { readonly name: string; readonly text: string }
/** Part of the mailbox that knows of faults; asked every few seconds, so it answers from memory. */
export type FaultSource = () => readonly Fault[]

const EVERY_MS = 1_000
/** Milliseconds without a single success after which a doorbell, or the wakes of a mailbox, are said to fail for good. */
const FAILING_MS = 600_000

/**
 * Looks at `sources` and at the store. A fault that is told stays in the store until it is over, so a restart tells it no second
 * time. While nothing can be written nothing can be told: that is told once it is over.
 */
export function watchFaults(
  mail: Mail,
  sources: readonly FaultSource[],
  complain: (error: unknown) => void,
  everyMs = EVERY_MS,
): { stop(): Promise<void> } {
  const { people } = mail.store
  let down: (Fault & { since: number }) | null = null
  let running: Promise<void> | null = null

  async function look(): Promise<void> {
    const { fault } = mail.store
    if (fault !== null) {
      if (down === null) complain(new Error(`nothing can be stored: ${fault}`))
      down ??= { name: 'store', text: fault, since: mail.now() }
      return
    }
    const found = sources.flatMap((source) => source())
    const known = new Map(people.faults().map((one) => [one.name, one]))
    for (const { name } of known.values())
      if (name !== STORE && !found.some((one) => one.name === name)) await people.clear(name)
    const since = mail.now()
    const fresh: FaultRow[] = found
      .filter(({ name }) => !known.has(name))
      .map(({ name, text }) => ({ name, text, since }))
    if (down) fresh.push({ name: STORE, since, text: storeText(down, since) })
    for (const one of fresh) await people.raise(one)
    await tell(mail, fresh)
    if (down || known.has(STORE)) await people.clear(STORE)
    down = null
  }

  // a kill may have come between the fault and its letter; the key makes a second letter the first
  const begin = async () => {
    for (const same of Map.groupBy(people.faults(), (fault) => fault.since).values()) await tell(mail, same)
  }
  const run = (work: () => Promise<void>) => {
    running ??= work()
      .catch(complain)
      .finally(() => {
        running = null
      })
  }
  run(begin)
  const timer = setInterval(() => run(look), everyMs)
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}

const STORE = 'store'
const storeText = ({ text, since }: { text: string; since: number }, now: number): string =>
  `From ${rfc3339(since)} to ${rfc3339(now)} nothing could be stored: ${text}. Senders were refused, nothing is lost.`

/** Faults that were found together come in one letter. */
async function tell(mail: Mail, faults: readonly FaultRow[]): Promise<void> {
  const [first, ...others] = faults.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  if (!first) return
  await tellOperators(mail, {
    key: `fault.${first.since}.${first.name}`.slice(0, 128),
    upsert: others.length === 0 ? `fault.${first.name}`.slice(0, 128) : null,
    subject: others.length === 0 ? `fault: ${first.name}` : `${faults.length} faults of the mailbox`,
    body: [first, ...others].map(({ name, text }) => `${name}: ${text}\n`).join('\n') + MORE,
  })
}

const MORE =
  '\nThe mailbox wrote this itself. It tells each fault once, until it is over and comes again. Now: mail4agent status\n'

/** Doorbells that have failed for `failingMs`, without one success meanwhile. */
export function failingBells(mail: Mail, failingMs = FAILING_MS): FaultSource {
  const since = new Map<number, number>()
  return () =>
    mail.store.registry.listeners().flatMap(({ account }) => {
      const { pending, lastOk, lastError, lastErrorAt } = mail.bell(account)
      const fails = pending > 0 && lastErrorAt !== null && (lastOk === null || lastErrorAt > lastOk)
      if (!fails) {
        since.delete(account)
        return []
      }
      const from = since.get(account) ?? lastErrorAt
      since.set(account, from)
      const owner = mail.store.registry.accountById(account)
      if (!owner || mail.now() - from < failingMs) return []
      const minutes = Math.round((mail.now() - from) / 60_000)
      return [
        { name: `doorbell ${owner.name}`, text: `its listener has not answered for ${minutes} min: ${lastError}` },
      ]
    })
}

/** Agents that run and were not woken for `failingMs`, while the letter that was to wake them lies unopened. */
export function failingWakes(mail: Mail, failingMs = FAILING_MS): FaultSource {
  const since = new Map<number, { row: NewWake; from: number }>()
  /** From its first failure on, unless what that one stood for was read before the next came. */
  function fromOf(row: NewWake): number {
    const known = since.get(row.box)
    if (known?.row === row) return known.from
    const from = known && isUnread(mail.store, known.row) ? known.from : row.at
    since.set(row.box, { row, from })
    return from
  }
  return () => {
    const failed = mail.wakes.silent ? [] : mail.store.wakes.failed()
    const boxes = new Set(failed.map(({ box }) => box))
    for (const box of since.keys()) if (!boxes.has(box)) since.delete(box)
    const late = failed.flatMap((row) => {
      const from = fromOf(row)
      const owner = ownerOfBox(mail.store, row.box)?.name
      if (owner === undefined || mail.now() - from < failingMs || !stillFails(mail, row)) return []
      return [{ owner, from, why: becauseOf(row) }]
    })
    // an account and its sessions are one agent
    return [...Map.groupBy(late, ({ owner }) => owner)].flatMap(([owner, [first]]) => {
      if (!first) return []
      const minutes = Math.round((mail.now() - first.from) / 60_000)
      const text = `mail has not woken it for ${minutes} min: ${first.why}. More: mail4agent wake status ${owner}`
      return [{ name: `wake ${owner}`, text }]
    })
  }
}
