// Platform and versions: what we run on, what SQLite can do, and whether the mailbox that runs is of our version.
import { VERSION } from '../../door/version.ts'
import { sqliteVersion } from '../../store/inspect.ts'
import type { Checkup } from './checkup.ts'
import { type Found, fail, fine, reasonOf, warn } from './finding.ts'

const KNOWN = ['linux', 'darwin', 'win32']

export async function platform({ machine, call, presence }: Checkup): Promise<Found> {
  const here = `${machine.platform} ${process.arch}`
  const facts = { platform: machine.platform, arch: process.arch, version: VERSION, bun: Bun.version }
  if (!KNOWN.includes(machine.platform))
    return fail(`${here} has no attestation, so no mail can be taken`, 'use Linux, macOS or Windows', facts)
  let sqlite: string
  try {
    sqlite = sqliteVersion()
  } catch (error) {
    return fail(reasonOf(error), 'install a newer SQLite with FTS5: brew install sqlite', facts)
  }
  const running = (await presence()).health?.version ?? null
  if (running !== null && running !== VERSION)
    return warn(
      `the mailbox that runs is ${running}, this is ${VERSION}`,
      `stop it and start it again with this one: ${call} serve`,
      { ...facts, sqlite, running },
    )
  return fine(`${here}, mail4agent ${VERSION}, SQLite ${sqlite} with FTS5`, { ...facts, sqlite, running })
}
