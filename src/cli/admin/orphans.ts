// mail4agent admin orphans: mail of sessions that ended, which nobody else may read until it is released.
import { parseAddress } from '../../wire/address.ts'
import { defineCommand } from '../command.ts'
import { usage } from '../usage.ts'

export const orphansList = defineCommand({
  name: 'admin orphans list',
  summary: 'mail of sessions that ended without a successor',
  usage: '[<account>]',
  help: `Lists sessions that have ended while mail to them was open. Nobody reads it until it is released to their account.

  mail4agent admin orphans list`,
  options: {},
  words: [0, 1],
  async run(context) {
    const client = await context.operator()
    const account = context.words[0]?.replace(/^@/, '') ?? null
    const answer = await client.admin('orphan/list', { account })
    const rows = answer.orphans.map((orphan) => [
      `${orphan.account}/${orphan.session}`,
      String(orphan.count),
      orphan.oldest,
    ])
    return context.show(answer, () => context.table(['session', 'open', 'oldest'], rows))
  },
})

export const orphansRelease = defineCommand({
  name: 'admin orphans release',
  summary: 'give the mail of an ended session to its account',
  usage: '<account/session>',
  help: `Moves the open mail of an ended session into the mailbox of its account, where every session of the account sees it.

  mail4agent admin orphans release claude/s-7f3a91c0`,
  options: {},
  words: [1, 1],
  async run(context) {
    const address = parseAddress(context.word(0, 'the session'))
    if (address.kind !== 'session')
      throw usage('that is no session', 'write it as account/s-…, as in: mail4agent admin orphans list')
    const client = await context.operator()
    const answer = await client.admin('orphan/release', { account: address.participant, session: address.session })
    return context.show(answer, () => `released ${answer.released}\n`)
  },
})
