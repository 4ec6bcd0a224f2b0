// What an import has done: counts, what could not be read and where, for people and as JSON.
import type { ImportLetter } from '../../wire/transfer.ts'
import type { Context } from '../context.ts'
import { escapeLine } from '../escape.ts'

export type Problem = { at: string; reason: string }

export class Report {
  added = 0
  /** There already, from an earlier import or because they were sent here. */
  known = 0
  /** Copies of what was added. */
  readonly states = { new: 0, opened: 0, closed: 0 }
  readonly problems: Problem[] = []
  /** Carried in, but not quite as it was. */
  readonly changed: Problem[] = []
  accountsMade: string[] = []
  roomsMade: string[] = []
  /** Rooms with their `#`. */
  unknownNames: string[] = []
  /** Contacts that are no account here; the letters do without them. */
  contactsUnknown: string[] = []

  constructor(
    readonly source: string,
    readonly dryRun: boolean,
  ) {}

  problem(at: string, reason: unknown): void {
    this.problems.push({ at, reason: reason instanceof Error ? (reason.message.split('\n')[0] ?? '') : String(reason) })
  }

  counted(letter: ImportLetter): void {
    this.added++
    for (const { state } of letter.deliveries) this.states[state]++
  }

  toJSON(): object {
    const { source, dryRun, added, known, states, problems, changed } = this
    const names = { accounts_made: this.accountsMade, rooms_made: this.roomsMade, unknown_names: this.unknownNames }
    const contacts = { unknown_contacts: this.contactsUnknown }
    return { source, dry_run: dryRun, added, known, states, ...names, ...contacts, changed, problems }
  }
}

/** Lines of each list that a person is shown; --json has all. */
const SHOWN = 50

/** `more`: facts of the source. Returns the exit code: 1 where something could not be carried in. */
export function showReport(context: Context, report: Report, more: Readonly<Record<string, number>> = {}): number {
  const { states, problems, changed, dryRun } = report
  const list = (names: readonly string[]) => (names.length === 0 ? null : names.join(' '))
  context.show({ ...report.toJSON(), ...(Object.keys(more).length > 0 && { found: more }) }, () => {
    const facts = context.facts([
      ...Object.entries(more).map(([name, count]) => [name.replaceAll('_', ' '), String(count)] as const),
      [dryRun ? 'would be added' : 'added', `${report.added} letters`],
      ['their copies', `${states.new} new, ${states.opened} opened, ${states.closed} closed`],
      ['there already', String(report.known)],
      [dryRun ? 'accounts to make' : 'accounts made', list(report.accountsMade)],
      [dryRun ? 'rooms to make' : 'rooms made', list(report.roomsMade.map((room) => `#${room}`))],
      ['no account here', list(report.unknownNames.filter((name) => !name.startsWith('#')))],
      ['no room here', list(report.unknownNames.filter((name) => name.startsWith('#')))],
      [dryRun ? '--make-accounts makes too' : 'contacts without an account', list(report.contactsUnknown)],
      ['changed', changed.length === 0 ? null : String(changed.length)],
      ['not read', String(problems.length)],
    ])
    return [facts, ...lines('changed', changed), ...lines('not read', problems)].join('')
  })
  return problems.length + report.unknownNames.length > 0 ? 1 : 0
}

function lines(what: string, problems: readonly Problem[]): string[] {
  const shown = problems.slice(0, SHOWN).map(({ at, reason }) => `${escapeLine(`${what}: ${at}: ${reason}`)}\n`)
  return problems.length > SHOWN ? [...shown, `${what}: ${problems.length - SHOWN} more; all with --json\n`] : shown
}
