// mail4agent import: letters of an export, carried into this mailbox.
import { resolve } from 'node:path'
import { defineCommand } from './command.ts'
import { mustBeFile } from './given-path.ts'
import { Carrier } from './import/carry.ts'
import { FORMAT, FORMAT_VERSION, importOf, type Line, lineOf } from './import/exported.ts'
import { linesOf } from './import/lines.ts'
import { NAME_OPTIONS, Names } from './import/names.ts'
import { Report, showReport } from './import/report.ts'
import { spooled } from './import/spool.ts'
import { usage } from './usage.ts'

export const importCommand = defineCommand({
  name: 'import',
  summary: 'carry letters of an export into this mailbox',
  usage: '[options] <file>',
  help: `Reads a file that mail4agent export has written, and adds its letters with their states, times, threads and references. What is
here already, from an earlier import or because it was sent here, is left as it is: a second import adds nothing. Needs an
operator. Imported letters say so: who wrote them was not proved here. They ring and wake nobody; letters to a session become
mail of its account; who is answered is the account of the sender. A damaged line is told with its number, and the others go on.
Exit code 1 when something could not be read.

  mail4agent import mail.jsonl --dry-run
  mail4agent import mail.jsonl --map claude=claude-desk --map '#build=#ci'
  mail4agent import mail.jsonl --make-accounts
  mail4agent export | mail4agent --data-dir ~/other import -
  mail4agent import aipass ~/src/project        the mailboxes of AIPass: see mail4agent help import aipass`,
  options: NAME_OPTIONS,
  words: [1, 1],
  async run(context) {
    const word = context.word(0, 'the file')
    const { options, io } = context
    using spool = word === '-' ? await spooled(io) : null
    const path = spool?.path ?? resolve(io.cwd, word)
    mustBeFile(path, 'name a file that mail4agent export has written, or - for the standard input')
    const called = spool === null ? path : 'the standard input'
    const names = new Names(options.map)
    const report = new Report('mail4agent', options['dry-run'])
    await look(path, called, names)
    const client = await context.operator()
    await names.settle(client, options['make-accounts'], report)
    const carrier = new Carrier(context, client, 'mail4agent', names, report)
    let letters = 0
    let ended: number | null = null
    for await (const line of linesOf(path)) {
      const at = `line ${line.number}`
      try {
        if ('fault' in line) throw new Error(line.fault)
        const read = lineOf(line.text)
        if (read.type === 'end') ended = read.letters
        if (read.type !== 'message') continue
        letters++
        const { type, ...letter } = read
        await carrier.add({ at, letter: importOf(letter) })
      } catch (error) {
        if (isOurs(error)) throw error
        report.problem(at, error)
      }
    }
    await carrier.flush()
    if (ended === null) report.problem('the end', 'is missing: the file was cut off')
    else if (ended > letters) report.problem('the end', `says ${ended} letters, ${letters} could be read`)
    return showReport(context, report)
  },
})

/** What every later line would meet as well. */
const isOurs = (error: unknown): boolean =>
  error instanceof Error && 'kind' in error && !['malformed', 'too_large'].includes(String(error.kind))

/** Looks through the file for the names in it. @throws Refusal `usage` for a file of another kind */
async function look(path: string, called: string, names: Names): Promise<void> {
  let begun = false
  for await (const line of linesOf(path)) {
    let read: Line
    try {
      if ('fault' in line) throw new Error(line.fault)
      read = lineOf(line.text)
      if (read.type === 'message') names.wantLetter(importOf(read))
    } catch {
      if (!begun) throw usage(`${called} is no export of a mailbox`, 'name a file that mail4agent export has written')
      continue // it is told when it is read
    }
    if (!begun) checkHeader(read, called)
    begun = true
    if (read.type === 'account') names.wantAccount(read.id, read.label, read.kind)
    if (read.type === 'room') names.wantRoom(read.id, read.members, read.label)
  }
  if (!begun) throw usage(`${called} is empty`, 'name a file that mail4agent export has written')
}

function checkHeader(line: Line, path: string): void {
  if (line.type !== 'header' || line.format !== FORMAT)
    throw usage(`${path} is no export of a mailbox`, 'name a file that mail4agent export has written')
  if (line.version !== FORMAT_VERSION)
    throw usage(
      `${path} has version ${line.version}, this mail4agent knows ${FORMAT_VERSION}`,
      'use the newer mail4agent',
    )
}
