// mail4agent claim: take account mail for a while.
import { LIMITS } from '../wire/limits.ts'
import { settledExit, settledText } from './batch.ts'
import { defineCommand } from './command.ts'
import { idsOf } from './latest.ts'
import { isOneShot } from './one-shot.ts'
import { clock } from './times.ts'
import { seconds, usage } from './usage.ts'

export const claim = defineCommand({
  name: 'claim',
  summary: 'take mail of the account for this session, for a while',
  usage: '[options] <id | latest>…',
  help: `Keeps mail of the account from its other sessions while you work on it: it leaves their inbox, and they cannot close it.
Claim again to keep it longer. It ends by itself, with your session, or with --release. A command outside of an agent is a
session of its own: what it claims is free again when it ends.

  mail4agent claim m4a_00000000002a9f3c51d07be4
  mail4agent claim m4a_00000000002a9f3c51d07be4 --for 30m
  mail4agent claim latest               the newest of your mail
  mail4agent claim m4a_00000000002a9f3c51d07be4 --release`,
  options: {
    for: { value: 'TIME', help: `how long: 90s, 30m; at most ${LIMITS.claimSeconds / 3_600}h (default 10m)` },
    release: { help: 'give it back' },
  },
  words: [1, LIMITS.batch],
  async run(context) {
    const { options } = context
    if (options.release && options.for !== undefined) throw usage('either --for or --release')
    const time = options.release
      ? 0
      : options.for === undefined
        ? null
        : seconds('--for', options.for, LIMITS.claimSeconds)
    const client = await context.mailbox()
    const isShort = !options.release && !context.json && (await isOneShot(client))
    const answer = await client.call('claim', {
      message_ids: await idsOf(client, context.words, context.io.now()),
      claim_secs: time,
    })
    context.show(answer, () => settledText(options.release ? 'released' : 'claimed', answer.results))
    if (!context.json && answer.claimed_until !== null) context.say(`until ${clock(answer.claimed_until)}`)
    if (isShort && answer.results.some((result) => result.ok))
      context.say(
        'no agent runs this, so the claim ends with this command; claim from within the agent that does the work',
      )
    return settledExit(context, answer.results)
  },
})
