// The Unix socket: there when the mailbox runs, gone when it does not, and private to its owner either way.
import { chmodSync, lstatSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isLocked } from '../../store/lock.ts'
import { Refusal } from '../../wire/refusal.ts'
import { shellLine } from '../machine.ts'
import type { Checkup } from './checkup.ts'
import { type Found, fail, fine, warn } from './finding.ts'

export async function socket(checkup: Checkup): Promise<Found> {
  const { call, dataDir, machine } = checkup
  const presence = await checkup.presence()
  const path = presence.note?.socket ?? checkup.socket
  if (path === null) return fine('none is used here', { socket: null })
  const there = lstatSync(path, { throwIfNoEntry: false })
  const facts = { socket: path, mode: there ? (there.mode & 0o777).toString(8) : null }
  const quoted = shellLine([path], machine.platform)
  if (!there) {
    if (presence.health === null) return fine('none, as no mailbox runs', facts)
    return fail(`${path} is gone, and the mailbox runs`, `stop the mailbox and start it again: ${call} serve`, facts)
  }
  if (!there.isSocket()) return fail(`${path} is no socket`, `move it away: mv ${quoted} ${quoted}.old`, facts)
  if (there.uid !== process.getuid?.())
    return fail(`${path} belongs to user ${there.uid}`, 'choose another with --socket or M4A_SOCKET', facts)
  const folder = dirname(path)
  const above = statSync(folder)
  if ((above.mode & 0o77) !== 0 || above.uid !== process.getuid?.()) {
    // closing a folder is good advice only where nothing but the mailbox lives
    const isOurs = above.uid === process.getuid?.() && (basename(folder) === 'mail4agent' || folder === dataDir)
    if (!isOurs) return fail(`${folder} is open to others`, 'choose another socket with --socket or M4A_SOCKET', facts)
    const close = () => {
      chmodSync(folder, 0o700)
      return [`closed ${folder} to others (0700)`]
    }
    return fail(`${folder} is open to others`, shellLine(['chmod', '700', folder], machine.platform), facts, close)
  }
  if (presence.socket instanceof Refusal && presence.socket.kind === 'daemon_unreachable' && !presence.locked)
    return warn(`${path} was left by a mailbox that is gone`, `rm ${quoted}`, facts, () => {
      if (isLocked(join(dataDir, 'lock'))) return [] // a mailbox has started meanwhile, and it is its own now
      rmSync(path, { force: true })
      return [`removed ${path}, which a mailbox that is gone had left`]
    })
  if (presence.socket instanceof Refusal)
    return fail(
      `the mailbox does not answer on ${path}: ${presence.socket.message}`,
      `stop the mailbox and start it again: ${call} serve`,
      facts,
    )
  if ((there.mode & 0o77) !== 0)
    return fail(`${path} is open to others`, `chmod 600 ${quoted}`, facts, () => {
      chmodSync(path, 0o600)
      return [`closed ${path} to others (0600)`]
    })
  return fine(`the mailbox answers on ${path}`, facts)
}
