// What lies in the mailboxes of a tree, in any of the shapes that it has had; and whom the address books know.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Report } from '../report.ts'
import { type Fields, isFields, readJson } from './json.ts'
import { mailOf, type OldMail, type Place } from './mail.ts'
import { type Branch, branchesIn, entriesOf, nameOf } from './tree.ts'

export type Contact = { name: string; project: string | null }
export type Collected = { branches: Branch[]; mail: OldMail[]; contacts: Contact[] }

/** Reads only. What cannot be read is in the report, with its path and the reason. */
export function collect(tree: string, report: Report): Collected {
  const branches = branchesIn(tree, report)
  const mail: OldMail[] = []
  const contacts: Contact[] = []
  for (const branch of branches) {
    for (const entry of entriesOf(branch.mailbox, report)) {
      const path = join(branch.mailbox, entry.name)
      const place = placeOf(entry.name)
      if (entry.isSymbolicLink() && (place || entry.name === 'contacts.json'))
        report.problem(path, 'is a symbolic link, not followed')
      else if (entry.isDirectory() && place) readFolder(path, place, branch, mail, report)
      else if (entry.isFile() && entry.name === 'contacts.json') contacts.push(...contactsIn(path, report))
      else if (entry.isFile() && place && entry.name.endsWith('.json')) readFile(path, place, branch, mail, report)
    }
    // what lay in one file before it was parted, and may have been thinned out since
    const old = join(branch.mailbox, '.archive')
    if (!existsSync(old)) continue
    for (const entry of entriesOf(old, report))
      if (entry.isFile() && /^deleted\.json\.migrated_/.test(entry.name))
        readFile(join(old, entry.name), 'deleted', branch, mail, report)
  }
  return { branches, mail, contacts }
}

/** `inbox.json`, `sent/`, `deleted/`, and the single files that came before the folders. */
const placeOf = (name: string): Place | null => {
  const [, place] = /^(inbox|sent|deleted)(?:\.json)?$/.exec(name) ?? []
  return place === 'inbox' || place === 'sent' || place === 'deleted' ? place : null
}

function readFolder(folder: string, place: Place, branch: Branch, mail: OldMail[], report: Report): void {
  for (const entry of entriesOf(folder, report)) {
    const path = join(folder, entry.name)
    if (entry.isSymbolicLink()) report.problem(path, 'is a symbolic link, not followed')
    else if (entry.isFile() && entry.name.endsWith('.json')) readFile(path, place, branch, mail, report)
  }
}

function readFile(path: string, place: Place, branch: Branch, mail: OldMail[], report: Report): void {
  const value = readJson(path, report)
  if (value === undefined) return
  const list = listIn(value)
  if (list === null) return report.problem(path, 'holds no messages')
  for (const [index, one] of list.entries()) {
    const at = list.length === 1 && !Array.isArray(value) && value === one ? path : `${path} message ${index + 1}`
    const found = mailOf(one, place, branch.name, path, at, report)
    if (found) mail.push(found)
  }
}

/** Version 1 was a bare list, or had the list under `inbox`; since version 2 it is under `messages`. A single message is a file. */
function listIn(value: unknown): unknown[] | null {
  if (Array.isArray(value)) return value
  if (!isFields(value)) return null
  for (const name of ['messages', 'inbox', 'deleted', 'sent', 'emails']) {
    const list = value[name]
    if (Array.isArray(list)) return list
    if (isFields(list)) return Object.values(list)
  }
  return 'message' in value || 'body' in value || 'from' in value || 'id' in value ? [value] : null
}

/** `contacts` by name, as a list, or without the word around them. */
function contactsIn(path: string, report: Report): Contact[] {
  const value = readJson(path, report)
  if (value === undefined) return []
  const book = isFields(value) && 'contacts' in value ? value.contacts : value
  const rows: [unknown, unknown][] = Array.isArray(book)
    ? book.map((row: unknown) => [isFields(row) ? (row.name ?? row.email ?? row.branch) : row, row])
    : isFields(book)
      ? Object.entries(book)
      : []
  if (!isFields(book) && !Array.isArray(book)) report.problem(path, 'holds no contacts')
  return rows.flatMap(([given, row]) => {
    const name = nameOf(given)
    if (name === null) report.problem(path, 'has a contact without a name')
    return name === null ? [] : [{ name, project: projectOf(row) }]
  })
}

const projectOf = (row: unknown): string | null => {
  const fields: Fields = isFields(row) ? row : {}
  return typeof fields.project === 'string' && fields.project !== '' ? fields.project.slice(0, 200) : null
}
