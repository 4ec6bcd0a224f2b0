// One program in the place of another: by rename in one folder, so that whoever starts it gets the old or the new one, never half.
import { randomUUID } from 'node:crypto'
import { copyFileSync, linkSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncFolder } from '../../door/folders.ts'
import { diskRefusal } from '../../store/disk.ts'

/** How files begin that lie beside the program for a while; one that was left is removed by a later upgrade. */
export const DRAFT = '.mail4agent-upgrade-'

/** Where the program that was replaced is kept: `mail4agent.previous`, on Windows `mail4agent.previous.exe`. */
export const previousOf = (program: string): string => program.replace(/(\.exe)?$/i, '.previous$1')

/**
 * Keeps the program that is in place as `previousOf` it, then puts `draft` there; both lie in one folder.
 * @throws Refusal `bad_permissions`, such as in a folder where each may rename only what is his
 */
export function swap(draft: string, program: string): void {
  const spare = double(program)
  try {
    renameSync(spare, previousOf(program))
    put(draft, program)
  } catch (error) {
    rmSync(spare, { force: true })
    throw diskRefusal(error, program, 'run this as the user to whom the program belongs') ?? error
  }
}

/** The previous program in its old place again; it stays under its other name too. */
export function swapBack(program: string): void {
  put(double(previousOf(program)), program)
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
