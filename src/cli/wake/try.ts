// mail4agent wake plan, wake test: which doors there are, and whether one works.
import { doorStates } from '../../client/door-states.ts'
import { defineCommand } from '../command.ts'
import { addressOf, whoseOf } from './common.ts'

export const wakePlan = defineCommand({
  name: 'wake plan',
  summary: 'the doors that a wake would try, each with whether it is ready',
  usage: '[<account>[/<session>]]',
  help: `Asks each door whether it could be used now, and says why not, in the order in which they are tried. Nobody is woken. Without
an account: those of every account that runs.

  mail4agent wake plan claude`,
  options: {},
  words: [0, 1],
  async run(context) {
    const [word] = context.words
    const client = await context.operator()
    const doors = await doorStates(client, word === undefined ? null : whoseOf(word))
    const rows = doors.map((door) => [
      addressOf(door),
      door.door,
      door.tier,
      door.ready ? (door.busy ? 'ready, at work' : 'ready') : (door.why ?? ''),
    ])
    return context.show({ doors }, () => context.table(['mailbox', 'door', 'tier', 'state'], rows))
  },
})

export const wakeTest = defineCommand({
  name: 'wake test',
  summary: 'wake it now, with a text that says that it is a test',
  usage: '<account>[/<session>]',
  help: `Goes through the doors as a letter would and says what came of it. This starts a turn of the agent.

  mail4agent wake test claude`,
  options: {},
  words: [1, 1],
  async run(context) {
    const client = await context.operator()
    const answer = await client.admin('wake/test', whoseOf(context.word(0, 'the account')), { timeoutMs: 120_000 })
    const rows = answer.tried.map((step) => [step.door, step.outcome ?? 'not ready', String(step.ms), step.detail])
    const head = `${answer.outcome}${answer.door === null ? '' : ` through ${answer.door}`} after ${answer.ms} ms\n`
    return context.show(
      answer,
      () => head + (rows.length === 0 ? '' : context.table(['door', 'outcome', 'ms', 'detail'], rows)),
    )
  },
})
