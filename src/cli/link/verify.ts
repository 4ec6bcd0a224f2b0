// mail4agent link verify: keys compared by two people who look at the same pictures, on this machine and in a Matrix client.
import type { MailClient } from '../../client/client.ts'
import type { VerifyEntry } from '../../wire/link.ts'
import { Refusal } from '../../wire/refusal.ts'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { ALLOW, allowed, show } from './peers.ts'

/** The other side has ten minutes: Matrix CS §11.12.2. */
const PATIENCE_MS = 600_000
const LOOK_MS = 400

export const linkVerify = defineCommand({
  name: 'link verify',
  summary: 'compare keys with a Matrix client, by pictures, and pin what was compared',
  usage: '[options] [<name> [<user>]]',
  help: `Compares the keys of this machine with those of a Matrix client, Element for example: both sides show the same seven
pictures, or numbers, and two people say so, side by side or on the phone. What was compared is pinned under the name: the
device, or with --master the key of the account, which vouches for all devices of that person. A peer that is known gets
its new pin; what is new is added. Where the pictures differ, somebody sits between: nothing is pinned, and mail to that peer
stops until it is verified again.

  mail4agent link verify                     who asks for it
  mail4agent link verify lukas @lukas:example.org --master --person --account '*'
  mail4agent link verify desk                once more, for instance after an alarm

Asked for at a terminal; from a script, "yes" or "no" is read from standard input.`,
  options: {
    ...ALLOW,
    master: { help: 'pin the key of the account, if the client proves it' },
    person: { help: 'somebody with a Matrix client, who writes texts to agents by @name' },
  },
  words: [0, 2],
  async run(context) {
    const client = await context.operator()
    if (context.words.length === 0) {
      const { verifications } = await client.admin('link/verify/list', {})
      return context.show({ verifications }, () => listText(context, verifications))
    }
    const { options, words } = context
    const name = context.word(0, 'the peer').replace(/^@/, '')
    const begun = await client.admin('link/verify/start', {
      name,
      user: words[1] ?? null,
      master: options.master || null,
      person: options.person,
      ...allowed(options),
    })
    context.say(begun.stage === 'asked' ? `${begun.user} is asked; accept it there` : 'both sides exchange keys')
    const shown = await follow(client, begun.flow, ['compare', 'done'])
    if (shown.stage === 'compare') {
      context.say(picturesText(shown))
      const same = await ask(context)
      await client.admin('link/verify/answer', { flow: begun.flow, same })
      if (same) context.say('waiting for the other side')
      await follow(client, begun.flow, ['done'])
    }
    const { peers } = await client.admin('link/status', {})
    const peer = peers.find((one) => one.name.toLowerCase() === name.toLowerCase())
    if (!peer) throw new Refusal('unknown_peer', `no peer ${name}`)
    return show(context, peer)
  },
})

/** @throws Refusal `not_verified` where it ends in another way, or not in time */
async function follow(client: MailClient, flow: string, until: VerifyEntry['stage'][]): Promise<VerifyEntry> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await Bun.sleep(LOOK_MS)) {
    const { verifications } = await client.admin('link/verify/list', {})
    const one = verifications.find((each) => each.flow === flow)
    if (!one) throw new Refusal('not_verified', 'the mailbox knows nothing of it any more')
    if (until.includes(one.stage)) return one
    if (one.stage === 'cancelled') throw new Refusal('not_verified', one.reason ?? 'it was cancelled')
  }
  throw new Refusal('not_verified', 'nobody answered in time')
}

async function ask({ io }: Context): Promise<boolean> {
  if (!io.inIsTerminal) return /^\s*y(es)?\s*$/i.test(Buffer.from(await io.input()).toString())
  const { confirm, isCancel } = await import('@clack/prompts')
  const answer = await confirm({
    message: 'does the other side show the same, in the same order?',
    initialValue: false,
  })
  return !isCancel(answer) && answer
}

const picturesText = ({ emoji, decimals }: VerifyEntry): string =>
  [
    ...emoji.map(({ symbol, description }) => `  ${symbol}  ${description}`),
    `  or in numbers: ${decimals.join(' ')}`,
  ].join('\n')

const listText = (context: Context, all: VerifyEntry[]): string =>
  all.length === 0
    ? 'nobody asks\n'
    : context.table(
        ['user', 'device', 'peer', 'stage', 'reason'],
        all.map(({ user, device, name, stage, reason }) => [user, device ?? '', name ?? '', stage, reason ?? '']),
      )
