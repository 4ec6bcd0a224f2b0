// What an account may do, as the command line names it, and its row in a table.
import type { Account } from '../../wire/admin.ts'
import { isName } from '../../wire/ids.ts'
import type { Capability } from '../../wire/operations.ts'
import { nearest, usage } from '../usage.ts'

/** Capability → the member of the request that grants it. */
const FLAGS = {
  send: 'may_send',
  read: 'may_read',
  dispatch: 'may_dispatch',
  behalf: 'may_behalf',
  chat: 'may_chat',
  operator: 'operator',
} as const satisfies Record<Capability, string>
export const CAPABILITIES = Object.keys(FLAGS)
const isCapability = (name: string): name is Capability => Object.hasOwn(FLAGS, name)

/** The flags that a list such as `send,read` sets to `value`. */
export function capabilityFlags(option: string, list: readonly string[], value: boolean) {
  const set: Partial<Record<(typeof FLAGS)[Capability], boolean>> = {}
  for (const name of list.flatMap((part) => part.split(',')).map((part) => part.trim())) {
    if (!isCapability(name)) {
      const meant = nearest(name, CAPABILITIES)
      throw usage(
        `${option}: no capability ${JSON.stringify(name.slice(0, 100))}`,
        meant ? `did you mean: ${meant}` : `there are ${CAPABILITIES.join(', ')}`,
      )
    }
    set[FLAGS[name]] = value
  }
  return set
}

/** A leading `@` is accepted. @throws Refusal `usage` */
export const accountName = (word: string): string => {
  const name = word.startsWith('@') ? word.slice(1) : word
  if (!isName(name))
    throw usage(`${JSON.stringify(name.slice(0, 200))} is no name`, 'names are 1 to 128 of A-Z a-z 0-9 . _ + -')
  return name
}

/** In the columns of ACCOUNT_HEAD. */
export const accountRow = (account: Account): string[] => [
  account.id,
  account.private ? `${account.kind}, private` : account.kind,
  CAPABILITIES.filter((name) => isCapability(name) && account[FLAGS[name]]).join(','),
  account.rooms.map((room) => `#${room}`).join(' '),
  account.label ?? '',
]

export const ACCOUNT_HEAD = ['account', 'kind', 'may', 'rooms', 'label'] as const
