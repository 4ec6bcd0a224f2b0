// The names in what is imported, and the accounts and rooms that they stand for here: mapped, made where that was asked, or told.
import type { MailClient } from '../../client/client.ts'
import { digestOf, newSecret } from '../../engine/admin/secret.ts'
import { SYSTEM } from '../../store/people/people.ts'
import type { AdminAnswer } from '../../wire/admin.ts'
import { canonical, isName, isRemoteName } from '../../wire/ids.ts'
import { LIMITS } from '../../wire/limits.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { ImportLetter } from '../../wire/transfer.ts'
import { usage } from '../usage.ts'
import type { AccountLine, RoomLine } from './exported.ts'
import type { Report } from './report.ts'

export const NAME_OPTIONS = {
  map: { value: 'OLD=NEW', multiple: true, help: 'an account of there is this one of here; #old=#new for rooms' },
  'make-accounts': {
    help: 'make the accounts and rooms that are not here; get their tokens with admin account rotate',
  },
  'dry-run': { help: 'change nothing; only say what would be' },
} as const

export class Names {
  readonly #map = new Map<string, string>()
  readonly #accounts = new Map<string, Omit<AccountLine, 'type'>>()
  /** Nothing was written by or to them: they are made with the others, and missed by nobody. */
  readonly #contacts = new Map<string, Omit<AccountLine, 'type'>>()
  readonly #rooms = new Map<string, { id: string; label: string | null; members: Set<string> }>()

  /** `mappings`: `old=new`. @throws Refusal `usage` */
  constructor(mappings: readonly string[]) {
    for (const text of mappings) {
      const [, mark = '', old = '', markToo = '', name = ''] = /^([#@]?)([^=]*)=([#@]?)(.*)$/.exec(text) ?? []
      if (!(isName(old) || isRemoteName(old)) || !isName(name) || (mark === '#') !== (markToo === '#'))
        throw usage(`--map ${JSON.stringify(text.slice(0, 200))} is not old=new`, 'such as --map claude=claude-desk')
      this.#map.set((mark === '#' ? '#' : '') + canonical(old), name)
    }
  }

  account = (name: string): string => this.#map.get(canonical(name)) ?? name
  room = (name: string): string => this.#map.get(`#${canonical(name)}`) ?? name

  /** The letter with the names of here. */
  named = (letter: ImportLetter): ImportLetter => ({
    ...letter,
    from: this.account(letter.from),
    deliveries: letter.deliveries.map((copy) => ({
      ...copy,
      to: this.account(copy.to),
      room: copy.room == null ? null : this.room(copy.room),
    })),
  })

  wantLetter(letter: ImportLetter): void {
    this.wantAccount(letter.from)
    for (const { to, room } of letter.deliveries) {
      this.wantAccount(to)
      if (room != null) this.wantRoom(room, [to])
    }
  }

  wantAccount(name: string, label: string | null = null, kind = 'agent'): void {
    const id = this.account(name)
    // every mailbox is that one itself
    if (canonical(id) === SYSTEM) return
    // the mailbox makes those of other machines itself: they are no accounts that could be given to somebody
    if (isRemoteName(id)) return
    const known = this.#accounts.get(canonical(id))
    this.#accounts.set(canonical(id), {
      id,
      label: label ?? known?.label ?? null,
      kind: known?.kind === 'person' ? 'person' : kind,
    })
  }

  wantContact(name: string, label: string | null): void {
    const id = this.account(name)
    this.#contacts.set(canonical(id), { id, label, kind: 'agent' })
  }

  wantRoom(name: string, members: readonly string[], label: RoomLine['label'] = null): void {
    const id = this.room(name)
    const room = this.#rooms.get(canonical(id)) ?? { id, label, members: new Set<string>() }
    for (const member of members) room.members.add(canonical(this.account(member)))
    this.#rooms.set(canonical(id), { ...room, label: label ?? room.label })
  }

  /**
   * Sees to it that every name stands for something here. Without `make` the unknown ones are refused, or told in a dry run.
   * @throws Refusal `unknown_participant` with all of them
   */
  async settle(client: MailClient, make: boolean, report: Report): Promise<void> {
    const accounts = new Set((await allAccounts(client)).map(({ id }) => canonical(id)))
    const rooms = new Set((await allRooms(client)).map(({ id }) => canonical(id)))
    const newAccounts = [...this.#accounts.values()].filter(({ id }) => !accounts.has(canonical(id)))
    const contacts = [...this.#contacts]
      .filter(([id]) => !accounts.has(id) && !this.#accounts.has(id))
      .map(([, one]) => one)
    if (make) newAccounts.push(...contacts)
    else report.contactsUnknown = contacts.map(({ id }) => id).sort()
    const newRooms = [...this.#rooms.values()].filter(({ id }) => !rooms.has(canonical(id)))
    const unknown = [...newAccounts.map(({ id }) => id), ...newRooms.map(({ id }) => `#${id}`)].sort()
    if (unknown.length === 0) return
    if (!make && report.dryRun) report.unknownNames = unknown
    else if (!make) throw unknownNames(unknown)
    else {
      report.accountsMade = newAccounts.map(({ id }) => id).sort()
      report.roomsMade = newRooms.map(({ id }) => id).sort()
      if (!report.dryRun) await this.#make(client, newAccounts, newRooms)
    }
  }

  async #make(
    client: MailClient,
    accounts: readonly Omit<AccountLine, 'type'>[],
    rooms: readonly { id: string; label: string | null; members: Set<string> }[],
  ): Promise<void> {
    for (const { id, label, kind } of accounts) {
      // nobody knows this secret: a token is made when the account is given to somebody
      const digest = digestOf(newSecret())
      await client.admin('participant', { id, label, kind: kind === 'person' ? 'person' : 'agent', digest })
    }
    for (const { id, label, members } of rooms) {
      await client.admin('room', { id, label })
      for (const participant of members) await client.admin('room/member/add', { room: id, participant })
    }
  }
}

const unknownNames = (names: readonly string[]): Refusal =>
  new Refusal(
    'unknown_participant',
    `not here: ${names.slice(0, 50).join(', ')}${names.length > 50 ? ` and ${names.length - 50} more` : ''}`,
    { names },
    'say whom they mean with --map old=new, or make them with --make-accounts',
  )

type AccountList = AdminAnswer<'participant/list'>
type RoomList = AdminAnswer<'room/list'>

export async function allAccounts(client: MailClient): Promise<AccountList['accounts']> {
  const all: AccountList['accounts'] = []
  for (let after: string | null = null, more = true; more; ) {
    const page: AccountList = await client.admin('participant/list', { limit: LIMITS.pageMax, after })
    all.push(...page.accounts)
    after = page.after
    more = page.has_more
  }
  return all
}

export async function allRooms(client: MailClient): Promise<RoomList['rooms']> {
  const all: RoomList['rooms'] = []
  for (let after: string | null = null, more = true; more; ) {
    const page: RoomList = await client.admin('room/list', { limit: LIMITS.pageMax, after })
    all.push(...page.rooms)
    after = page.after
    more = page.has_more
  }
  return all
}
