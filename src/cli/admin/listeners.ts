// mail4agent admin listener: doorbells, which tell a program of this machine that mail has come.
import { defineCommand } from '../command.ts'
import { clock } from '../times.ts'

export const listenerList = defineCommand({
  name: 'admin listener list',
  summary: 'list doorbells and how they fare',
  usage: '',
  help: `Lists the doorbells: where they ring, what waits to be rung, when it last worked and what last failed.

  mail4agent admin listener list`,
  options: {},
  words: [0, 0],
  async run(context) {
    const client = await context.operator()
    const answer = await client.admin('listener/list', {})
    const rows = answer.listeners.map((listener) => [
      listener.account,
      listener.url,
      String(listener.pending),
      listener.last_ok === null ? 'never' : clock(listener.last_ok),
      listener.last_error === null
        ? ''
        : `${listener.last_error}${listener.last_error_at === null ? '' : ` at ${clock(listener.last_error_at)}`}`,
    ])
    return context.show(answer, () => context.table(['account', 'url', 'pending', 'last ok', 'last error'], rows))
  },
})

export const listenerSet = defineCommand({
  name: 'admin listener set',
  summary: 'set the doorbell of an account',
  usage: '[options] <account> <url>',
  help: `Rings at a URL of this machine for each new letter of an account: ids only, never subject or body. The key that signs each
ring is printed now and never again; a new one replaces it each time. A ring is a POST with the header

  X-M4A-Signature: sha256=HEX

where HEX is the HMAC-SHA-256 over the raw body, in lower case. The key of the HMAC is the text as printed, not the bytes
that its digits stand for. Compare before you believe a ring, for any program of this machine can ring at your URL.

  mail4agent admin listener set claude http://127.0.0.1:9000/mail
  mail4agent admin listener set claude http://127.0.0.1:9000/mail --coalesce`,
  options: { coalesce: { help: 'one ring for all that is new, until something is read' } },
  words: [2, 2],
  async run(context) {
    const client = await context.operator()
    const account = context.word(0, 'the account').replace(/^@/, '')
    const answer = await client.admin('listener', {
      account,
      url: context.word(1, 'the URL'),
      coalesce: context.options.coalesce,
    })
    context.show(answer, () => `${answer.key}\n`)
    if (!context.json) {
      context.say('this is the key that signs each ring; it is not shown again')
      context.say(
        'to verify one: X-M4A-Signature is sha256= and the hex HMAC-SHA-256 over the raw body, keyed with this text',
      )
    }
    return 0
  },
})

export const listenerRemove = defineCommand({
  name: 'admin listener remove',
  summary: 'remove the doorbell of an account',
  usage: '<account>',
  help: `Removes the doorbell of an account, and its key.

  mail4agent admin listener remove claude`,
  options: {},
  words: [1, 1],
  async run(context) {
    const account = context.word(0, 'the account').replace(/^@/, '')
    const client = await context.operator()
    const answer = await client.admin('listener/remove', { account })
    return context.show(answer, () => `removed the doorbell of ${account}\n`)
  },
})
