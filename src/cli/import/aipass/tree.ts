// The mailboxes of a tree of branches: every `.ai_mail.local` folder, and the addresses that its registries give to folders.
import { type Dirent, readdirSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import type { Report } from '../report.ts'
import { readJson } from './json.ts'

export const MAILBOX = '.ai_mail.local'
/** Copies of branches, and folders that hold no branches and very many files. */
const PASSED_OVER = new Set(['.git', 'node_modules', '.venv', '__pycache__', '.backup', 'backups', '.archive'])
const REGISTRY = /_REGISTRY\.json$/ // a file system without case would match more

export type Branch = { folder: string; mailbox: string; name: string }

/** Reads names only. A symbolic link is not followed: it may lead round in a circle, or out of the tree. */
export function branchesIn(tree: string, report: Report): Branch[] {
  const mailboxes: string[] = []
  const addresses = new Map<string, string>()
  const waiting = [tree]
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of entriesOf(folder, report)) {
      const path = join(folder, entry.name)
      if (entry.name === MAILBOX && entry.isDirectory()) mailboxes.push(path)
      else if (entry.name === MAILBOX)
        report.problem(path, entry.isSymbolicLink() ? 'is a symbolic link, not followed' : 'is no folder')
      else if (entry.isDirectory() && !PASSED_OVER.has(entry.name)) waiting.push(path)
      else if (entry.isFile() && REGISTRY.test(entry.name)) readRegistry(path, addresses, report)
    }
  }
  return mailboxes.sort().map((mailbox) => {
    const folder = dirname(mailbox)
    return { folder, mailbox, name: nameOf(addresses.get(folder) ?? basename(folder).toLowerCase()) ?? 'unnamed' }
  })
}

/** In the order of their names, so that two runs say the same. */
export function entriesOf(folder: string, report: Report): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    report.problem(folder, error)
    return []
  }
}

/** `branches` as a list or by name; relative paths count from the folder of the registry. */
function readRegistry(path: string, addresses: Map<string, string>, report: Report): void {
  const value = readJson(path, report)
  if (typeof value !== 'object' || value === null || !('branches' in value)) return
  const { branches } = value
  const rows: unknown[] = typeof branches === 'object' && branches !== null ? Object.values(branches) : []
  for (const row of rows) {
    if (typeof row !== 'object' || row === null || !('path' in row) || typeof row.path !== 'string') continue
    const address = 'email' in row && typeof row.email === 'string' ? row.email : null
    const folder = isAbsolute(row.path) ? row.path : resolve(dirname(path), row.path)
    if (address) addresses.set(folder, address)
  }
}

/**
 * The account that an old address means: `@devpulse`, a name, or the path of a branch, which the router made of an address.
 * What no name here may hold becomes a hyphen. Null for nothing.
 */
export function nameOf(address: unknown): string | null {
  if (typeof address !== 'string') return null
  const plain = address.trim().replace(/\/+$/, '')
  const last = plain.includes('/') ? basename(plain).toLowerCase() : plain
  const name = last
    .replace(/^@+/, '')
    .replaceAll(/[^A-Za-z0-9._+-]+/g, '-')
    .slice(0, 128)
  return name === '' || name === '-' ? null : name
}
