// Files of a service manager: written whole beside the old one, then put in its place; read or absent; folders that got empty.
import { mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { Refusal } from '../../wire/refusal.ts'

/** They hold no secret, so others may read them. @throws Refusal `service_failed` */
export function writeWhole(path: string, content: string | Buffer): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(`${path}.new`, content, { mode: 0o644 })
    renameSync(`${path}.new`, path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new Refusal(
      'service_failed',
      `${path} cannot be written (${code})`,
      { path },
      'make its folder yours to write',
    )
  }
}

/** Null: there is none that we may read. */
export function textAt(path: string, encoding: 'utf8' | 'utf16le' = 'utf8'): string | null {
  try {
    return readFileSync(path, encoding)
  } catch {
    return null
  }
}

/** Nothing happens to a folder in which something is. */
export function removeEmpty(...folders: string[]): void {
  for (const folder of folders) {
    try {
      rmdirSync(folder)
    } catch {
      return
    }
  }
}
