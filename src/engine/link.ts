// Other machines as the engine sees them: names to resolve, mailboxes to prepare, how far mail has come. link/ implements it.
import { type AccountRow, type MessageRow, NO_RIGHTS, type Recipient } from '../store/rows.ts'
import type { Store } from '../store/store.ts'
import { type AddressInput, toAddress } from '../wire/address.ts'
import type { AdminAnswer, AdminRequest } from '../wire/admin.ts'
import type { ChatAnswer, ChatCommand, ChatRequest } from '../wire/chat.ts'
import type { Receipt } from '../wire/letter.ts'
import type { LINK_ADMIN } from '../wire/link.ts'
import { Refusal } from '../wire/refusal.ts'
import type { Caller, Mail } from './mail.ts'

/** The account `name@machine` that stands for a mailbox of another machine: no secret opens it, and it may do nothing here. */
export const addRemote = (store: Store, name: string): Promise<AccountRow> =>
  store.addAccount({ name, label: null, kind: 'remote', can: NO_RIGHTS, digest: `remote:${crypto.randomUUID()}` })

export type LinkRoute = keyof typeof LINK_ADMIN

export interface LinkSeat {
  /** The name of a peer as it was pinned, or null. @throws Refusal why the link is down, where it is */
  machine(name: string): string | null
  /** Makes the mailboxes that the addresses name on other machines. Nothing to do costs nothing. */
  prepare(to: readonly AddressInput[]): Promise<void>
  /** How far a delivery to another machine has come; null for one of this machine. */
  fate(message: MessageRow, to: Recipient): Receipt['remote'] | null
  /** Why mail to that machine waits; undefined where it does not. */
  warning(account: AccountRow): string | undefined
  /** How it fares; null where none is set up, and then nothing of it is loaded for the question. */
  status(): Promise<AdminAnswer<'link/status'> | null>
  /** A chat command of a caller who may use them. @throws Refusal `link_off`, why it is down, `homeserver`, those of the command */
  chat<C extends ChatCommand>(command: C, caller: Caller, request: ChatRequest<C>): Promise<ChatAnswer<C>>
  administer<R extends LinkRoute>(route: R, request: AdminRequest<R>): Promise<AdminAnswer<R>>
}

/** @throws Refusal `unknown_machine` */
export function machineNamed(mail: Mail, name: string): string {
  const machine = mail.link?.machine(name) ?? null
  if (machine === null) throw new Refusal('unknown_machine', `no machine ${name}`, { machine: name })
  return machine
}

/**
 * Which of the addresses name another machine, also by an alias of the caller's own; `answering`: aliases stand for nothing.
 * Those that are no addresses are refused elsewhere.
 */
export function remoteAmong(
  { store }: Mail,
  { account }: Caller,
  to: readonly AddressInput[],
  answering: boolean,
): AddressInput[] {
  return to
    .map((one) => {
      const name = typeof one === 'string' ? one : one.kind === 'direct' && one.machine === undefined && one.participant
      return (name && !answering && store.people.alias(account.id, name)) || one
    })
    .filter(isRemote)
}

const isRemote = (one: AddressInput): boolean =>
  typeof one === 'string' ? one.indexOf('@') > 0 : toAddress(one).machine !== undefined

/** Does any of the addresses name another machine? */
export const someRemote = (to: readonly AddressInput[]): boolean => to.some(isRemote)
