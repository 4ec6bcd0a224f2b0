// mail4agent admin account list, set, remove: who may use the mailbox, and for what.
import type { Account, AdminAnswer } from '../../wire/admin.ts'
import { LIMITS } from '../../wire/limits.ts'
import { defineCommand } from '../command.ts'
import { forgetDefault } from '../default-account.ts'
import { forgetToken } from '../token-files.ts'
import { usage } from '../usage.ts'
import { ACCOUNT_HEAD, accountName, accountRow, CAPABILITIES, capabilityFlags } from './capabilities.ts'

const KINDS = ['agent', 'person'] as const

export const accountList = defineCommand({
  name: 'admin account list',
  summary: 'list accounts with what they may do',
  usage: '',
  help: `Lists the accounts: what they may do, their rooms, their listener. No secret and no digest is ever shown.

  mail4agent admin account list`,
  options: {},
  words: [0, 0],
  async run(context) {
    const client = await context.operator()
    const accounts: Account[] = []
    let after: string | null = null
    do {
      const page: AdminAnswer<'participant/list'> = await client.admin('participant/list', {
        limit: LIMITS.pageMax,
        after,
      })
      accounts.push(...page.accounts)
      after = page.has_more ? page.after : null
    } while (after !== null)
    return context.show({ accounts, has_more: false, after: null }, () =>
      context.table(ACCOUNT_HEAD, accounts.map(accountRow)),
    )
  },
})

export const accountSet = defineCommand({
  name: 'admin account set',
  summary: 'change what an account may do, or its label',
  usage: '[options] <name>',
  help: `Changes an account. What is not named stays as it is.

  mail4agent admin account set claude --can dispatch
  mail4agent admin account set claude --cannot send,dispatch
  mail4agent admin account set claude --label ""
  mail4agent admin account set claude --private --visible-to codex,lukas

A private account is absent from lists, @all and errors, except for operators, members of its rooms, whom it has written to, and
the accounts of --visible-to.`,
  options: {
    can: { short: 'c', value: 'LIST', multiple: true, help: `grant, of ${CAPABILITIES.join(',')}` },
    cannot: { value: 'LIST', multiple: true, help: 'take away' },
    label: { short: 'l', value: 'TEXT', help: 'a name for people' },
    kind: { value: 'KIND', help: 'agent or person' },
    private: { help: 'seen by few' },
    public: { help: 'seen by all' },
    'visible-to': { value: 'LIST', help: 'who sees it while it is private, in place of who did; "" for nobody' },
  },
  words: [1, 1],
  async run(context) {
    const { can, cannot, label, kind, private: hide, public: show, 'visible-to': list } = context.options
    if (hide && show) throw usage('--private and --public say different things')
    const known = KINDS.find((name) => name === kind)
    if (kind !== undefined && known === undefined) throw usage(`--kind is ${KINDS.join(' or ')}`)
    const change = {
      ...capabilityFlags('--can', can, true),
      ...capabilityFlags('--cannot', cannot, false),
      ...(label === undefined ? {} : { label }),
      ...(known === undefined ? {} : { kind: known }),
      ...(hide || show ? { private: hide } : {}),
      ...(list === undefined ? {} : { visible_to: list.split(',').filter(Boolean).map(accountName) }),
    }
    if (Object.keys(change).length === 0) throw usage('nothing to change', 'see: mail4agent help admin account set')
    const client = await context.operator()
    const account = await client.admin('participant/set', { id: accountName(context.word(0, 'the name')), ...change })
    return context.show(account, () => context.table(ACCOUNT_HEAD, [accountRow(account)]))
  },
})

export const accountRemove = defineCommand({
  name: 'admin account remove',
  summary: 'remove an account; its mail stays',
  usage: '<name>',
  help: `Removes an account and its token file. Its mail stays in the store; a later account of that name is another one.

  mail4agent admin account remove claude`,
  options: {},
  words: [1, 1],
  async run(context) {
    const name = accountName(context.word(0, 'the name'))
    const client = await context.operator()
    const answer = await client.admin('participant/remove', { id: name })
    forgetToken(context.place.dataDir, name)
    forgetDefault(context.place.dataDir, name)
    return context.show(answer, () => `removed ${name}\n`)
  },
})
