// One program in the place of another: by rename in one folder, so that whoever starts it gets the old or the new one, never half.
import { randomUUID } from 'node:crypto'
import { copyFileSync, linkSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncFolder } from '../../door/folders.ts'

/** Where the program that was replaced is kept: `mail4agent.previous`, on Windows `mail4agent.previous.exe`. */
export const previousOf = (program: string): string => program.replace(/(\.exe)?$/i, '.previous$1')

/** Keeps the program that is in place as `previousOf` it, then puts `draft` there; both lie in one folder. */
export function swap(draft: string, program: string): void {
  const spare = double(program)
  renameSync(spare, previousOf(program))
  put(draft, program)
}

/** The previous program in its old place again; it stays under its other name too. */
export function swapBack(program: string): void {
  put(double(previousOf(program)), program)
}

/** The same file under another name: a second name, or a copy where a file can have only one. */
function double(path: string): string {
  const spare = join(dirname(path), `.mail4agent-upgrade-${randomUUID()}`)
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
  const aside = `${program}.${randomUUID()}.old`
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
    // it still runs; the next upgrade may remove it
  }
}
