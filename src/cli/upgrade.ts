// mail4agent upgrade: a new program in the place of this one, with the mailbox that runs, and back again when it does not come up.
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { inFolder } from '../door/folders.ts'
import { VERSION } from '../door/version.ts'
import { logPath } from '../install/background.ts'
import { sha256 } from '../install/release/checksums.ts'
import { serviceStep } from '../install/service-choice.ts'
import type { ServiceStep } from '../install/service-step.ts'
import { type Candidate, stage } from '../install/upgrade/candidate.ts'
import { previousOf, type Swapped, swap } from '../install/upgrade/swap.ts'
import { peek } from '../store/peek.ts'
import { restore } from '../store/restore.ts'
import { KNOWN_SCHEMA } from '../store/schema.ts'
import { Refusal } from '../wire/refusal.ts'
import { agentAbove } from './agent-above.ts'
import { defineCommand } from './command.ts'
import type { Context } from './context.ts'
import { mustBeFile } from './given-path.ts'
import { installLock } from './install-lock.ts'
import { type Installer, installerFor } from './installer.ts'
import { endStarted, type Running, running, startAs, stopRunning } from './upgrade-daemon.ts'
import { usage } from './usage.ts'

export const upgrade = defineCommand({
  name: 'upgrade',
  summary: 'put another version in the place of this program',
  usage: '--from <file>',
  help: `Puts the program from a file, a binary or a release archive, in the place of this one, and restarts the mailbox that up has
started. The file is checked first: by a SHA256SUMS beside it, by running it for its version, and by the store, which an older
program could not open. The program that was here stays beside it as mail4agent.previous; when the new one does not come up,
it is put back and started again.

  mail4agent upgrade --from mail4agent-0.2.0-linux-x64.tar.gz --dry-run
  mail4agent upgrade --from mail4agent-0.2.0-linux-x64.tar.gz`,
  options: {
    from: { value: 'FILE', help: 'the new program, or the release archive that holds it' },
    'dry-run': { short: 'n', help: 'check everything and change nothing' },
  },
  words: [0, 0],
  async run(context) {
    const { options, io, place } = context
    if (options.from === undefined) throw usage('--from is missing', 'name the new program or a release archive')
    const file = resolve(io.cwd, options.from)
    mustBeFile(file, 'name a program or a release archive')
    const program = ownProgram()
    const installer = installerFor(context)
    const service = serviceStep(installer.machine)
    // where there is nothing yet, there is nothing to be kept apart from
    const alone = !options['dry-run'] && existsSync(place.dataDir)
    using _lock = alone ? installLock(place.dataDir, installer.record) : null
    let before = await running(context, installer, service)
    await mayRestart(context, before)
    context.progress(`checking ${file}`)
    const candidate = await stage(file, program)
    try {
      const store = inFolder(place.dataDir).store
      const { schema = null } = peek(store) ?? {}
      mustKnow(candidate, schema, file)
      const isNew = sha256(readFileSync(program)) !== candidate.digest
      if (!isNew && before.version === candidate.version) before = { ...before, restart: 'not needed' }
      const facts = {
        program,
        before: VERSION,
        after: candidate.version,
        checksum: candidate.checksum,
        store_schema: schema,
        known_schema: candidate.schema,
        swap: isNew,
        restart: before.restart,
        previous: isNew ? previousOf(program) : null,
        dry_run: options['dry-run'],
      }
      if (options['dry-run']) return context.show(facts, () => upgradeText(facts))
      const swapped = isNew ? swap(candidate.draft, program) : null
      await restart(context, installer, service, before, { program, swapped, version: candidate.version, store })
      swapped?.done()
      return context.show(facts, () => upgradeText(facts))
    } finally {
      rmSync(candidate.draft, { force: true })
    }
  },
})

/** @throws Refusal `usage` where the program is not ours to replace */
function ownProgram(): string {
  if (!/\$bunfs|~BUN/.test(Bun.main))
    throw usage('this runs from source, so there is no program to replace', 'build another version instead')
  const program = realpathSync(process.execPath)
  if (/[\\/]node_modules[\\/]/.test(program))
    throw usage(
      `npm has installed ${program}`,
      'let npm replace it: npm install mail4agent@latest, with -g if it is global',
    )
  return program
}

/** What an agent starts is below it, and would be its mailbox. */
async function mayRestart({ io }: Context, { restart }: Running): Promise<void> {
  const agent = restart === 'background' || restart === 'service' ? await agentAbove(io) : null
  if (agent === null) return
  const hint = 'run this in a terminal of your own'
  throw new Refusal('agent_ancestor', `${agent} may not restart the mailbox`, { agent }, hint)
}

/** `schema`: that of the store, or null. @throws Refusal `newer_store`, `unfit_program` */
function mustKnow({ schema: known, version }: Candidate, schema: number | null, file: string): void {
  if (schema === null) return
  if (known === null)
    throw new Refusal('unfit_program', `mail4agent ${version} does not say which store it can open`, { path: file })
  if (known >= schema) return
  const facts = { found: schema, known, path: file }
  const message = `the store has schema ${schema}, mail4agent ${version} knows ${known}`
  throw new Refusal('newer_store', message, facts, 'name a newer release; nothing was changed')
}

type Next = { program: string; swapped: Swapped | null; version: string; store: string }

/** @throws Refusal `upgrade_failed`; the previous program is in place and runs again then, if it can */
async function restart(
  context: Context,
  installer: Installer,
  service: ServiceStep | null,
  before: Running,
  { program, swapped, version, store }: Next,
): Promise<void> {
  if (before.restart !== 'service' && before.restart !== 'background') return
  context.progress(`restarting the mailbox as ${version}`)
  try {
    await stopRunning(context, installer, service, before)
  } catch (error) {
    swapped?.back()
    throw error
  }
  const why = await startAs(context, installer, service, before, { program, version })
  if (why === null) return
  const failed = `mail4agent ${version} did not come up: ${why}`
  const hint = before.restart === 'service' ? 'see: mail4agent service logs' : `see ${logPath(context.place.dataDir)}`
  if (swapped === null) throw new Refusal('upgrade_failed', failed, {}, hint)
  await endStarted(context, installer, service, before)
  const lost = storeBack(store)
  if (lost !== null) {
    swapped.done()
    throw new Refusal('upgrade_failed', `${failed}; ${lost}`, {}, `the previous one: ${previousOf(program)}`)
  }
  swapped.back()
  const again = await startAs(context, installer, service, before, { program, version: VERSION })
  const end =
    again === null ? `${VERSION} is back in its place and runs` : `${VERSION} is back, and fails too: ${again}`
  throw new Refusal('upgrade_failed', `${failed}; ${end}`, {}, hint)
}

/**
 * The new program may have changed the store before it failed. The copy from before goes back if nothing came since.
 * @returns null, or why the store stays as it is
 */
function storeBack(store: string): string | null {
  const now = peek(store)
  if (now === null || now.schema <= KNOWN_SCHEMA) return null
  const copy = `${store}.before-schema-${now.schema}`
  if (!existsSync(copy) || peek(copy)?.head !== now.head)
    return `it has brought the store to schema ${now.schema}, which ${VERSION} cannot open`
  restore(copy, store)
  return null
}

type Facts = {
  program: string
  before: string
  after: string
  checksum: Candidate['checksum']
  swap: boolean
  restart: Running['restart']
  previous: string | null
  dry_run: boolean
}

const RESTARTED: Readonly<Record<Running['restart'], (done: string) => string>> = {
  service: (done) => `the service ${done} restarted`,
  background: (done) => `the mailbox ${done} restarted in the background`,
  'by hand': () => 'the mailbox that runs was not started by up: restart it yourself',
  'not running': () => 'no mailbox runs',
  'not needed': () => 'the mailbox runs as that version already',
}

function upgradeText({ program, before, after, checksum, swap, restart, previous, dry_run }: Facts): string {
  const done = dry_run ? 'would be' : 'was'
  return [
    swap ? `${program}: ${before} ${done} replaced by ${after}` : `${program} is that very program already (${after})`,
    ...(checksum === null ? [] : [`SHA256SUMS: ${checksum}`]),
    ...(previous === null ? [] : [`the previous one ${dry_run ? 'would be' : 'is'} kept in ${previous}`]),
    RESTARTED[restart](done),
  ]
    .map((line) => `${line}\n`)
    .join('')
}
