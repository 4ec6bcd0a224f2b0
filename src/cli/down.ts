// mail4agent down: takes back what up has done. Mail and accounts stay unless they are purged.
import { existsSync, readdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { serviceStep } from '../install/service-choice.ts'
import { type Undone, undoFile, wouldUndo } from '../install/undo.ts'
import { Refusal } from '../wire/refusal.ts'
import { defineCommand } from './command.ts'
import type { Context } from './context.ts'
import { installLock } from './install-lock.ts'
import { agreed, type Installer, installerFor } from './installer.ts'
import { healthOf, stopDaemon } from './up-daemon.ts'

export type Back = { path: string; done: Undone | null; refusal: Refusal | null }

export const down = defineCommand({
  name: 'down',
  summary: 'take back what up has done',
  usage: '[options]',
  help: `Stops the mailbox that up started and removes its entries from every client. A file that still is what up wrote gets back
what was there before, byte for byte; from one that changed since, our entries alone are removed and all else stays.
Mail, accounts and tokens stay in the data folder unless --purge removes them too.

  mail4agent down
  mail4agent down --purge --yes`,
  options: {
    yes: { short: 'y', help: 'do not ask' },
    purge: { help: 'also remove the data folder: all mail, accounts and tokens' },
  },
  words: [0, 0],
  async run(context) {
    const { options } = context
    const installer = installerFor(context)
    const { record } = installer
    const { dataDir } = context.place
    const nothing = record.files.length === 0 && record.background === null && !record.service && !options.purge
    if (nothing) return context.show({ files: [], daemon: 'not ours', purged: false }, () => 'nothing to take back\n')
    if (!context.json)
      for (const file of record.files)
        context.progress(`will be ${wouldUndo(file) ?? 'left, it cannot be read'}: ${file.path}`)
    const question = options.purge ? `Take it back, and remove all mail in ${dataDir}?` : 'Take it back?'
    if (!(await agreed(context, options.yes, question, options.purge))) return 1

    const isMailbox = isOfMailbox(dataDir)
    const { files, daemon } = await takeAllBack(context, installer)
    const failed = files.some(({ refusal }) => refusal !== null)
    const left = options.purge && !failed ? await purge(context, isMailbox) : null
    context.show({ files, daemon, purged: left !== null }, () => backText(files, daemon, dataDir, left))
    return failed ? 1 : 0
  },
})

async function takeAllBack(context: Context, installer: Installer): Promise<{ files: Back[]; daemon: string }> {
  using _lock = installLock(context.place.dataDir, installer.record)
  const files = takeBack(installer, installer.record.files)
  return { files, daemon: await stopDaemon(context, installer, serviceStep(installer.machine)) }
}

/** The folder may be a link: it goes with what it leads to. */
function removeFolder(path: string): void {
  rmdirSync(realpathSync(path))
  rmSync(path, { force: true })
}

/** The newest first. What cannot be taken back stays recorded, and the others go on. */
export function takeBack({ record, machine, us }: Installer, files: Installer['record']['files']): Back[] {
  return [...files].reverse().map((file) => {
    try {
      return { path: file.path, done: undoFile(record, file, machine, us), refusal: null }
    } catch (error) {
      if (error instanceof Refusal) return { path: file.path, done: null, refusal: error }
      throw error
    }
  })
}

export const backLines = (files: readonly Back[]): string[] =>
  files.flatMap(({ path, done, refusal }) =>
    refusal === null ? [`${done}: ${path}`] : [`not taken back: ${refusal.message}`, `  try: ${refusal.hint}`],
  )

function backText(files: readonly Back[], daemon: string, dataDir: string, left: readonly string[] | null): string {
  const kept =
    left === null
      ? [`mail and accounts stay in ${dataDir}; remove them with: mail4agent down --purge`]
      : left.length === 0
        ? [`removed ${dataDir}`]
        : [`removed the mail in ${dataDir}; these are not ours and stay: ${left.join(', ')}`]
  return [...backLines(files), `the mailbox: ${daemon}`, ...kept].map((line) => `${line}\n`).join('')
}

/** What the mailbox and the installer make there. */
const OURS =
  /^((mail|search)\.sqlite.*|operator\.key|default-account|daemon\.json|lock(-journal)?|tokens|installed|installed\.json|serve\.log|starts\.json|service\.xml|install\.lock.*|m4a\.sock.*|backups)$/

/** What no other program makes; other names of ours are such as anybody gives. */
const MARKS = ['mail.sqlite', 'operator.key', 'installed.json']
/** What the lock of this very command has made. */
const OF_THE_LOCK = /^install\.lock.*$/

const isOfMailbox = (dataDir: string): boolean => MARKS.some((name) => existsSync(join(dataDir, name)))

/**
 * Removes our files and, when it is empty then, the folder; answers what else lies there. Of a folder that was no mailbox's
 * nothing goes. The marks go last: cut off in between, the next run goes on.
 */
async function purge(context: Context, isMailbox: boolean): Promise<string[]> {
  const { dataDir } = context.place
  if ((await healthOf(context)) !== null)
    throw new Refusal(
      'already_running',
      `a mailbox still runs on ${dataDir}, so nothing of it was removed`,
      {},
      'stop it first',
    )
  let names: string[]
  try {
    names = readdirSync(dataDir)
  } catch {
    return []
  }
  const ours = isMailbox ? OURS : OF_THE_LOCK
  const going = names.filter((name) => ours.test(name)).sort((a, b) => MARKS.indexOf(a) - MARKS.indexOf(b))
  for (const name of going) rmSync(join(dataDir, name), { recursive: true, force: true })
  const left = names.filter((name) => !ours.test(name))
  if (left.length === 0) removeFolder(dataDir)
  return left
}
