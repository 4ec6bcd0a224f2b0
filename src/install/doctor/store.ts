// The store: whole, of a schema that we know; asked through the mailbox while it runs, else opened for reading alone.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inspectFile } from '../../store/inspect.ts'
import type { AdminAnswer } from '../../wire/admin.ts'
import { Refusal } from '../../wire/refusal.ts'
import { rfc3339 } from '../../wire/time.ts'
import { shellLine } from '../machine.ts'
import { asOperator } from './callers.ts'
import type { Checkup } from './checkup.ts'
import { type Found, fail, fine, reasonOf, warn } from './finding.ts'
import { size } from './space.ts'

type Report = AdminAnswer<'check'>

/** Milliseconds: a gigabyte takes seconds, a slow disk a minute. */
export const STORE_MS = 120_000

export async function store(checkup: Checkup): Promise<Found[]> {
  const { call, dataDir, machine } = checkup
  const path = join(dataDir, 'mail.sqlite')
  if (!existsSync(path)) return [fine('there is none yet; the mailbox makes it when it starts', { store: path })]
  const restore = restoreWith(checkup)
  let report: Report | null
  try {
    report = await reportOf(checkup, path)
  } catch (error) {
    const reason = reasonOf(error)
    if (!/malformed|not a database|corrupt|damaged|cannot be read/i.test(reason)) throw error
    return [fail(`${path} is damaged: ${reason}`, restore, { store: path })]
  }
  if (report === null) {
    const hangs = (await checkup.presence()).health === null
    const why = hangs ? 'who has it open does not answer' : 'only an operator in a terminal of their own may ask'
    return [fine(`not looked through: ${why}`, { store: path })]
  }
  const { schema, known, integrity, bytes, letters, future } = report
  const facts = { store: path, ...report }
  if (schema > known)
    return [
      fail(
        `${path} was written by a newer mail4agent (schema ${schema}, this one knows ${known})`,
        `use that version; or, losing what came later: ${restore}`,
        facts,
      ),
    ]
  if (integrity !== 'ok') return [fail(`${path} is damaged: ${integrity}`, restore, facts)]
  const found = [fine(`whole: ${letters} letter${letters === 1 ? '' : 's'}, ${size(bytes)}, schema ${schema}`, facts)]
  if (future !== null)
    found.push(
      warn(
        `letters dated in the future: ${future.count}, until ${future.latest}; their order is right, their ages are not`,
        machine.platform === 'linux' ? shellLine(['timedatectl', 'set-ntp', 'true'], 'linux') : 'correct the clock',
        { ...future, now: rfc3339(checkup.now()), call },
      ),
    )
  return found
}

/** Null: the mailbox runs, and we may not ask it. */
async function reportOf(checkup: Checkup, path: string): Promise<Report | null> {
  const { health, locked } = await checkup.presence()
  if (health !== null) {
    const answer = await asOperator(checkup, (mailbox) => mailbox.admin('check', {}, { timeoutMs: STORE_MS }))
    if (!(answer instanceof Refusal)) return answer
    if (answer.kind === 'damaged_store') throw answer
    return null
  }
  // somebody has it open and does not answer: leave it alone
  if (locked) return null
  const { future, ...report } = inspectFile(path, checkup.now())
  return { ...report, future: future && { count: future.count, latest: rfc3339(future.latest) } }
}

/** The command that puts the newest backup back. */
function restoreWith({ call, dataDir, machine }: Checkup): string {
  const folder = join(dataDir, 'backups')
  const backups = existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith('.')) : []
  const [newest] = backups.map((name) => join(folder, name)).sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)
  if (newest !== undefined) return `${call} admin restore ${shellLine([newest], machine.platform)}`
  return `${call} admin restore <file>, with a file that mail4agent admin backup has written`
}
