// One program in the place of another: by rename in one folder, so that whoever starts it gets the old or the new one, never half.
import { randomUUID } from 'node:crypto'
import { copyFileSync, existsSync, linkSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncFolder } from '../../door/folders.ts'
import { diskRefusal } from '../../store/disk.ts'

/** How files begin that lie beside the program for a while; one that was left is removed by a later upgrade. */
export const DRAFT = '.mail4agent-upgrade-'

/** Where the program that was replaced is kept: `mail4agent.previous`, on Windows `mail4agent.previous.exe`. */
export const previousOf = (program: string): string => program.replace(/(\.exe)?$/i, '.previous$1')

export type Swapped = {
  /** The program that was there again in its place, and what had been `previousOf` it before, if anything. */
  back(): void
  /** It stays: what was kept for `back` goes. */
  done(): void
}

/**
 * Keeps the program that is in place as `previousOf` it, then puts `draft` there; both lie in one folder.
 * @throws Refusal `bad_permissions`, such as in a folder where each may rename only what is his
 */
export function swap(draft: string, program: string): Swapped {
  const previous = previousOf(program)
  const earlier = existsSync(previous) ? double(previous) : null
  const spare = double(program)
  try {
    rename(spare, previous)
    put(draft, program)
    return {
      back() {
        put(double(previous), program)
        if (earlier !== null) rename(earlier, previous)
      },
      done() {
        if (earlier !== null) rmSync(earlier, { force: true })
      },
    }
  } catch (error) {
    if (earlier !== null) rename(earlier, previous)
    rmSync(spare, { force: true })
    throw diskRefusal(error, program, 'run this as the user to whom the program belongs') ?? error
  }
}

/** Two names of one file are left as they are by rename(2). */
function rename(from: string, to: string): void {
  renameSync(from, to)
  rmSync(from, { force: true })
}

/** The same file under another name: a second name, or a copy where a file can have only one. */
function double(path: string): string {
  const spare = join(dirname(path), DRAFT + randomUUID())
  try {
    linkSync(path, spare)
  } catch {
    copyFileSync(path, spare)
  }
  return spare
}

/**
 * rename(2) replaces a program that runs, too: its file lives on without a name. Windows keeps a program that runs, but lets it
 * be renamed, so there the place is empty for a moment.
 */
function put(draft: string, program: string): void {
  if (process.platform !== 'win32') {
    renameSync(draft, program)
    syncFolder(dirname(program))
    return
  }
  const aside = join(dirname(program), DRAFT + randomUUID())
  renameSync(program, aside)
  try {
    renameSync(draft, program)
  } catch (error) {
    renameSync(aside, program)
    throw error
  }
  try {
    rmSync(aside)
  } catch {
    // it still runs
  }
}
