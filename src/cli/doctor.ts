// mail4agent doctor: looks at everything that a mailbox needs, says what is wrong and what to do, and mends what is safe.
import { existsSync } from 'node:fs'
import { MailClient } from '../client/client.ts'
import { CHECKS } from '../install/doctor/checks.ts'
import type { Checkup } from '../install/doctor/checkup.ts'
import { type Examined, examine } from '../install/doctor/examine.ts'
import { type Mended, mend } from '../install/doctor/mend.ts'
import { lookForMailbox, type Presence } from '../install/doctor/presence.ts'
import { lookAtReaders } from '../install/doctor/readers.ts'
import { Installation } from '../install/record.ts'
import { serviceStep } from '../install/service-choice.ts'
import { agentAbove } from './agent-above.ts'
import { callFrom } from './call-us.ts'
import { defineCommand } from './command.ts'
import { configPath, settingsFor } from './config.ts'
import type { Context } from './context.ts'
import { doctorText } from './doctor-text.ts'
import { lockIn } from './install-lock.ts'
import { installerFor, machineFor } from './installer.ts'
import { DEFAULT_PORT, routeTo } from './place.ts'
import { storedToken, tokenNames } from './token-files.ts'
import { ensureDaemon, serviceTarget } from './up-daemon.ts'

/** Milliseconds without an answer after which whoever watches is told what is under way. */
const SILENT_MS = 1_000

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'look for what is wrong, and say what to do',
  usage: '[options]',
  help: `Looks at the machine, the mailbox and everything that uses it: attestation, folders, permissions, room, configuration,
port, socket, service, store, clock, each agent client (its command is started and asked as the client would), doorbells,
and mail that nobody reads. Works without a running mailbox and without the operator's key, and changes nothing.

  mail4agent doctor
  mail4agent doctor --fix      mend what is safe: modes, leftovers, missing folders, our own entries, a stopped mailbox
  mail4agent doctor --json

Exit code: 0 when all is well or there are warnings only, 1 when something fails.`,
  options: { fix: { help: 'mend what is safe to mend, and say each thing that was done' } },
  words: [0, 0],
  async run(context) {
    const look = () => withProgress(context, (running) => examine(CHECKS, checkupFor(context), running))
    const first = await look()
    const mended = context.options.fix ? await mendAlone(context, first, look) : nothingMended(first)
    const findings = mended.examined.map(({ finding }) => finding)
    const ok = findings.every(({ level }) => level !== 'fail')
    const mendable = mended.examined.filter(({ fix }) => fix !== null).length
    const { fixed, unfixed } = mended
    context.show({ ok, findings, mendable, fixed, unfixed }, () => doctorText(context, mended))
    return ok && unfixed.length === 0 ? 0 : 1
  },
})

const nothingMended = (examined: Examined[]): Mended => ({ fixed: [], unfixed: [], examined })

/** As `up` and `down` write: one at a time, and what is mended was looked at since. @throws Refusal `setup_running` */
async function mendAlone(context: Context, first: Examined[], look: () => Promise<Examined[]>): Promise<Mended> {
  if (first.every(({ fix }) => fix === null)) return nothingMended(first)
  const { dataDir } = context.place
  // where there is no folder nothing was ever set up, and to make it is one of the cures
  using _lock = existsSync(dataDir) ? lockIn(dataDir, new Installation(dataDir)) : null
  return mend(await look(), look)
}

/** Everything is looked at anew with each of these. */
function checkupFor(context: Context): Checkup {
  const { io, place } = context
  const { dataDir, socket } = place
  const { machine, us } = machineFor(context)
  const port = place.port ?? DEFAULT_PORT
  let presence: Promise<Presence> | undefined
  let readers: ReturnType<Checkup['readers']> | undefined
  const checkup: Checkup = {
    machine,
    us,
    call: callFrom(context),
    dataDir,
    port: port === 0 ? null : port,
    socket,
    presence: () => {
      presence ??= lookForMailbox(dataDir, port, socket)
      return presence
    },
    readers: () => {
      readers ??= lookAtReaders(checkup)
      return readers
    },
    settings: () => {
      const { allowForwarders, allowAgentsAsPersons } = settingsFor(io)
      const on = [
        ...(allowForwarders ? ['allow_forwarders'] : []),
        ...(allowAgentsAsPersons ? ['allow_agents_as_persons'] : []),
      ]
      return { path: configPath(io), on }
    },
    record: () => new Installation(dataDir),
    self: () => agentAbove(io).catch(() => null), // a configuration that cannot be read is a finding elsewhere
    tokenNames: () => tokenNames(dataDir),
    token: (account) => storedToken(dataDir, account),
    open: (token, looks) => new MailClient({ ...routeTo(place), token, looks }),
    service: () => ({ step: serviceStep(machine), target: serviceTarget(context, installerFor(context)) }),
    // as it was started before: no service is installed where up had made none
    start: () => {
      const installer = installerFor(context)
      return ensureDaemon(context, installer, installer.record.service ? serviceStep(machine) : null)
    },
    now: io.now,
  }
  return checkup
}

/** Tells whoever watches what is under way, once it takes more than a moment. */
async function withProgress(
  context: Context,
  work: (running: (names: readonly string[]) => void) => Promise<Examined[]>,
): Promise<Examined[]> {
  let open: readonly string[] = []
  let told = 0
  const timer = setInterval(() => {
    if (open.length > 0 && open.length !== told) context.progress(`still looking at: ${open.join(', ')}`)
    told = open.length
  }, SILENT_MS)
  try {
    return await work((names) => {
      open = names
    })
  } finally {
    clearInterval(timer)
  }
}
