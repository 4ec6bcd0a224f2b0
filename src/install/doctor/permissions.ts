// Who may look into the data folder, and into each file in it that is ours.
import { chmodSync, existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { shellLine } from '../machine.ts'
import type { Checkup } from './checkup.ts'
import { type Fix, type Found, fail, fine } from './finding.ts'

/** What the mailbox and the installer make in the data folder. */
const OURS =
  /^((mail|search)\.sqlite.*|operator\.key|default-account|daemon\.json|(install\.)?lock(-journal)?|installed\.json|serve\.log)$/
const FOLDERS = ['tokens', 'installed', 'backups']

type Thing = { path: string; mode: number; uid: number; isFolder: boolean }

export function permissions({ machine, dataDir }: Checkup): Found[] {
  // its access lists, not these bits, say who may read there
  if (machine.platform === 'win32') return [fine('Windows keeps the data folder to its user', { data: dataDir })]
  if (!existsSync(dataDir)) return [fine('nothing is there yet', { data: dataDir })]
  const all = things(dataDir)
  const us = process.geteuid?.() ?? -1
  const found: Found[] = []
  const foreign = all.filter(({ uid }) => uid !== us)
  if (foreign.length > 0) {
    const paths = foreign.map(({ path }) => path)
    const todo = shellLine(['sudo', 'chown', String(us), ...paths], machine.platform)
    found.push(fail(`${list(paths)} ${paths.length === 1 ? 'belongs' : 'belong'} to another user`, todo, { paths }))
  }
  const open = all.filter(({ uid, mode }) => uid === us && (mode & 0o077) !== 0)
  const isShared = open.some(({ path }) => path === dataDir) && !isMailbox(dataDir)
  if (isShared)
    found.push(fail(`${dataDir} is open to others`, 'choose another folder with --data-dir', { paths: [dataDir] }))
  const closable = open.filter(({ path }) => path !== dataDir || !isShared)
  if (closable.length > 0) found.push(openTo(closable, machine.platform))
  return found.length > 0
    ? found
    : [fine(`${all.length} files and folders are private to you`, { checked: all.length })]
}

function openTo(open: readonly Thing[], platform: NodeJS.Platform): Found {
  const modes = open.map(({ path, mode }) => ({ path, mode: (mode & 0o777).toString(8) }))
  const chmod = (mode: string, some: readonly Thing[]) =>
    some.length === 0 ? [] : [shellLine(['chmod', mode, ...some.map(({ path }) => path)], platform)]
  const todo = [
    ...chmod(
      '700',
      open.filter(({ isFolder }) => isFolder),
    ),
    ...chmod(
      '600',
      open.filter(({ isFolder }) => !isFolder),
    ),
  ].join(' && ')
  const close: Fix = () =>
    open.map(({ path, isFolder }) => {
      chmodSync(path, isFolder ? 0o700 : 0o600)
      return `closed ${path} to others (${isFolder ? '0700' : '0600'})`
    })
  return fail(
    `others may look into ${list(modes.map(({ path, mode }) => `${path} (${mode})`))}`,
    todo,
    { modes },
    close,
  )
}

/** Only then is closing it good advice: other programs may live in other folders. */
const isMailbox = (path: string): boolean => basename(path) === 'mail4agent' || existsSync(join(path, 'mail.sqlite'))

/** The data folder and what is ours in it; links count as what they lead to, dangling ones are left out. */
function things(dataDir: string): Thing[] {
  const files = readdirSync(dataDir).filter((name) => OURS.test(name))
  const folders = FOLDERS.filter((name) => lstatSync(join(dataDir, name), { throwIfNoEntry: false })?.isDirectory())
  const inside = folders.flatMap((name) => readdirSync(join(dataDir, name)).map((file) => join(name, file)))
  return ['.', ...files, ...folders, ...inside].flatMap((name) => {
    const path = name === '.' ? dataDir : join(dataDir, name)
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats ? [{ path, mode: stats.mode, uid: stats.uid, isFolder: stats.isDirectory() }] : []
  })
}

const SHOWN = 3
const list = (words: readonly string[]): string =>
  words.length <= SHOWN ? words.join(', ') : `${words.slice(0, SHOWN).join(', ')} and ${words.length - SHOWN} more`
