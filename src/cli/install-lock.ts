// Setting up and taking back happen one at a time: they plan, and then write what they have planned.
import { join } from 'node:path'
import { privateFiles, privateFolder } from '../door/folders.ts'
import type { Installation } from '../install/record.ts'
import { lock } from '../store/lock.ts'
import { Refusal } from '../wire/refusal.ts'

/**
 * Until it is disposed of, or our process ends, no other `up`, `down`, `client`, `service`, `upgrade` or `doctor --fix` command changes this
 * machine. `record` is read again: one of them may have changed it while a person was asked.
 * @throws Refusal `setup_running`, `damaged_store`
 */
export function installLock(dataDir: string, record: Installation): Disposable {
  privateFolder(dataDir)
  return lockIn(dataDir, record)
}

/** The same in a folder that is there, whoever it is open to: to close it is what it is locked for. */
export function lockIn(dataDir: string, record: Installation): Disposable {
  try {
    const held = privately(() => lock(join(dataDir, 'install.lock')))
    record.reload()
    return { [Symbol.dispose]: () => held.release() }
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'already_running') throw error
    throw new Refusal('setup_running', `another command sets up or takes back in ${dataDir} right now`, {
      data_dir: dataDir,
    })
  }
}

/** SQLite makes a file as the umask says. */
function privately<T>(work: () => T): T {
  const done = privateFiles()
  try {
    return work()
  } finally {
    done()
  }
}
