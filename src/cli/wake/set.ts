// mail4agent wake mode, allow, block, enable, disable: when mail wakes an account, or one session of it.
import type { AdminRequest } from '../../wire/admin.ts'
import { WAKE_MODES } from '../../wire/wake.ts'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { usage } from '../usage.ts'
import { addressOf, policyText, whoseOf } from './common.ts'

async function change(context: Context, more: Omit<AdminRequest<'wake/set'>, 'account' | 'session'>): Promise<number> {
  const whose = whoseOf(context.word(0, 'the account'))
  const client = await context.operator()
  const answer = await client.admin('wake/set', { ...whose, ...more })
  return context.show(answer, () => `${addressOf(answer)}: ${policyText(answer.policy)}\n`)
}

export const wakeMode = defineCommand({
  name: 'wake mode',
  summary: 'which mail wakes it',
  usage: '[options] <account>[/<session>] [off | direct | mention | all]',
  help: `Says which mail starts a turn of an idle agent. An agent's account has direct from the start, a person's off. What is set for
a session goes over what is set for its account. Mail that may not wake is not brought up again when this changes.

  mail4agent wake mode claude direct       mail to the account or its sessions
  mail4agent wake mode claude mention      also room mail that says @claude, or begins with claude:
  mail4agent wake mode claude all          all room mail too
  mail4agent wake mode claude off
  mail4agent wake mode claude --quiet      not while it is at work: once it is idle
  mail4agent wake mode claude --reset      as it was from the start`,
  options: {
    quiet: { help: 'leave an agent at work alone until it is idle' },
    'no-quiet': { help: 'bring mail to an agent at work too' },
    reset: { help: 'forget all that was set for it' },
  },
  words: [1, 2],
  async run(context) {
    const mode = context.words[1]
    const known = WAKE_MODES.find((name) => name === mode)
    if (mode !== undefined && known === undefined)
      throw usage(`there is no mode ${JSON.stringify(mode.slice(0, 40))}`, `the modes are ${WAKE_MODES.join(', ')}`)
    const { quiet, 'no-quiet': noQuiet, reset } = context.options
    if (mode === undefined && !quiet && !noQuiet && !reset)
      throw usage('the mode is missing', `the modes are ${WAKE_MODES.join(', ')}`)
    return change(context, {
      mode: known ?? null,
      quiet: quiet ? true : noQuiet ? false : null,
      forget: reset || null,
    })
  },
})

export const wakeAllow = defineCommand({
  name: 'wake allow',
  summary: 'whose mail wakes it',
  usage: '[options] <account>[/<session>] [<sender>…]',
  help: `Lets the mail of these accounts wake it, and of no others any more. Mail of all others is kept as always.

  mail4agent wake allow claude codex lukas
  mail4agent wake allow claude --everybody`,
  options: { everybody: { help: 'let the mail of everybody wake it' } },
  words: [1, 100],
  async run(context) {
    const senders = context.words.slice(1).map((name) => name.replace(/^@/, ''))
    const { everybody } = context.options
    if (senders.length === 0 && !everybody) throw usage('the sender is missing')
    return change(context, everybody ? { allow_everybody: true, unblock: senders } : { allow: senders })
  },
})

export const wakeBlock = defineCommand({
  name: 'wake block',
  summary: 'whose mail does not wake it',
  usage: '<account>[/<session>] <sender>…',
  help: `Keeps the mail of these accounts from waking it. It is kept as always. mail4agent wake allow takes it back.

  mail4agent wake block claude codex`,
  options: {},
  words: [2, 100],
  run: (context) => change(context, { block: context.words.slice(1).map((name) => name.replace(/^@/, '')) }),
})

export const wakeEnable = defineCommand({
  name: 'wake enable',
  summary: 'let it be woken, or through a door that has to be allowed',
  usage: '<account>[/<session>] [<door>…]',
  help: `Without a door: it is woken as its mode says. With doors: these may be used, also such as have to be allowed first, because
their vendor does not document them or because they start a process. mail4agent wake plan lists the doors.

  mail4agent wake enable claude
  mail4agent wake enable claude claude-resume`,
  options: {},
  words: [1, 50],
  run: (context) => change(context, context.words.length > 1 ? { on: context.words.slice(1) } : { enabled: true }),
})

export const wakeDisable = defineCommand({
  name: 'wake disable',
  summary: 'let nothing wake it, or not through a door',
  usage: '<account>[/<session>] [<door>…]',
  help: `Without a door: nothing wakes it, whatever its mode. With doors: these are not used.

  mail4agent wake disable claude
  mail4agent wake disable codex codex-daemon`,
  options: {},
  words: [1, 50],
  run: (context) => change(context, context.words.length > 1 ? { off: context.words.slice(1) } : { enabled: false }),
})
