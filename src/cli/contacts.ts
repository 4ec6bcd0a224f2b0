// mail4agent contacts: whom one writes with, and own names for addresses.
import type { MailClient } from '../client/client.ts'
import { LIMITS } from '../wire/limits.ts'
import type { AliasAnswer, ContactsAnswer } from '../wire/people.ts'
import { defineCommand } from './command.ts'
import type { Context } from './context.ts'
import { span } from './times.ts'

export const contacts = defineCommand({
  name: 'contacts',
  summary: 'whom you write with, and when last; your aliases',
  usage: '',
  help: `Lists accounts with their live sessions, rooms, your own aliases and other machines: when each was last seen, when you last
wrote to it, and when you last heard from it. It is made from the mail itself, so there is nothing to keep up.

  mail4agent contacts
  mail4agent contacts alias add lead codex/s-7f3a91c0`,
  options: {},
  words: [0, 0],
  async run(context) {
    const client = await context.mailbox()
    const answer = await allContacts(client)
    return context.show(answer, () => contactsText(answer, context))
  },
})

/** All of them, in one answer. */
export async function allContacts(client: MailClient): Promise<ContactsAnswer> {
  const answer = await client.call('contacts', { limit: LIMITS.pageMax })
  while (answer.has_more && answer.after !== null) {
    const page: ContactsAnswer = await client.call('contacts', { limit: LIMITS.pageMax, after: answer.after })
    answer.accounts.push(...page.accounts)
    answer.has_more = page.has_more
    answer.after = page.after
  }
  return answer
}

function contactsText({ accounts, rooms, aliases, machines, now }: ContactsAnswer, context: Context): string {
  const ago = (at: string | null) => (at === null ? '' : `${span((Date.parse(now) - Date.parse(at)) / 1_000)} ago`)
  const times = (one: Traffic) => [
    one.sent === 0 ? '' : `${one.sent}, ${ago(one.last_written_at)}`,
    one.heard === 0 ? '' : `${one.heard}, ${ago(one.last_heard_at)}`,
  ]
  return context.table(
    ['address', 'kind', 'seen', 'written to', 'heard from', 'about'],
    [
      ...aliases.map(({ name, address }) => [name, 'alias', '', '', '', `for ${address}`]),
      ...accounts.map((one) => [
        one.id,
        one.private ? `${one.kind}, private` : one.kind,
        one.live_sessions.length > 0 ? `${one.live_sessions.length} live` : ago(one.last_seen) || 'never',
        ...times(one),
        one.label ?? '',
      ]),
      ...rooms.map(({ id, member, label, ...traffic }) => [
        `#${id}`,
        'room',
        ago(latest(traffic)),
        ...times(traffic),
        [member ? 'you are a member' : '', label ?? ''].filter((text) => text !== '').join('; '),
      ]),
      ...machines.map(({ id, last_seen }) => [`@${id}`, 'machine', ago(last_seen), '', '', '']),
    ],
  )
}

type Traffic = Pick<ContactsAnswer['rooms'][number], 'sent' | 'heard' | 'last_written_at' | 'last_heard_at'>

/** When something was last posted there that the caller knows of. RFC 3339 in UTC sorts by time. */
const latest = ({ last_written_at, last_heard_at }: Traffic): string | null =>
  [last_written_at, last_heard_at]
    .filter((at) => at !== null)
    .sort()
    .at(-1) ?? null

export const aliasList = defineCommand({
  name: 'contacts alias',
  summary: 'list your aliases',
  usage: '',
  help: `Lists the names that you have given to addresses.

  mail4agent contacts alias
  mail4agent contacts alias add lead codex/s-7f3a91c0
  mail4agent contacts alias remove lead`,
  options: {},
  words: [0, 0],
  async run(context) {
    const { aliases, now } = await (await context.mailbox()).call('contacts', { limit: 1 })
    if (aliases.length === 0 && !context.json) context.say('no aliases yet')
    return context.show({ aliases, now }, () =>
      aliases.length === 0
        ? ''
        : context.table(
            ['alias', 'stands for'],
            aliases.map(({ name, address }) => [name, address]),
          ),
    )
  },
})

export const aliasAdd = defineCommand({
  name: 'contacts alias add',
  summary: 'give an address a name of your own',
  usage: '<name> <address>',
  help: `From then on <name> stands for <address> wherever your account names one. It is yours alone, and it cannot be the name of an
account. An alias that is there is replaced.

  mail4agent contacts alias add lead codex/s-7f3a91c0
  mail4agent contacts alias add team '#build'
  mail4agent send lead "look at this"`,
  options: {},
  words: [2, 2],
  async run(context) {
    const name = bare(context.word(0, 'the name'))
    const client = await context.mailbox()
    const answer = await client.call('alias', { name, address: context.word(1, 'the address') })
    context.show(answer, () => `${name} stands for ${addressIn(answer, name)}\n`)
    if (answer.warning !== undefined && !context.json) context.say(answer.warning)
    return 0
  },
})

export const aliasRemove = defineCommand({
  name: 'contacts alias remove',
  summary: 'forget an alias',
  usage: '<name>',
  help: `Forgets an alias of yours. What was sent by it stays where it went.

  mail4agent contacts alias remove lead`,
  options: {},
  words: [1, 1],
  async run(context) {
    const name = bare(context.word(0, 'the name'))
    const client = await context.mailbox()
    const answer = await client.call('alias', { name, remove: true })
    return context.show(answer, () => `removed ${name}\n`)
  },
})

const bare = (word: string): string => (word.startsWith('@') ? word.slice(1) : word)
const addressIn = ({ aliases }: AliasAnswer, name: string): string =>
  aliases.find((alias) => alias.name.toLowerCase() === name.toLowerCase())?.address ?? ''
