// mail4agent dispatch stop, pause, resume: end one, start nothing more, go on; and attend, which the mailbox itself starts.
import { resolve } from 'node:path'
import { attend } from '../../wake/dispatch/attend.ts'
import { defineCommand } from '../command.ts'
import { agentName, dispatchId } from './text.ts'

export const dispatchStop = defineCommand({
  name: 'dispatch stop',
  summary: 'end a dispatch',
  usage: '[options] <number>',
  help: `Ends a dispatch that you asked for, queued or running, with all its processes. An operator may end any.

  mail4agent dispatch stop 12 --reason "asked the wrong one"`,
  options: { reason: { value: 'TEXT', help: 'why; whoever asked for it is told' } },
  words: [1, 1],
  async run(context) {
    const client = await context.mailbox()
    const id = dispatchId(context.word(0, 'the number'))
    const answer = await client.call('dispatch_stop', { id, reason: context.options.reason ?? null })
    const done = answer.dispatch.state === 'done'
    return context.show(answer, () =>
      done ? `dispatch ${id} is done: ${answer.dispatch.outcome}\n` : `dispatch ${id} ends\n`,
    )
  },
})

export const dispatchPause = defineCommand({
  name: 'dispatch pause',
  summary: 'start nothing more, of one agent or of all',
  usage: '[options] [<agent>]',
  help: `Starts no agent any more, or not that one, until dispatch resume. What runs goes on to its end; what is queued waits; what is
asked for meanwhile is refused with the reason.

  mail4agent dispatch pause --reason "budget"
  mail4agent dispatch pause @backend --reason "main is frozen"`,
  options: { reason: { value: 'TEXT', help: 'why; everybody who is refused is told' } },
  words: [0, 1],
  async run(context) {
    const [word] = context.words
    const id = word === undefined ? null : agentName(word)
    const client = await context.operator()
    const answer = await client.admin('dispatch/pause', {
      id,
      reason: context.options.reason || 'the operator paused it',
    })
    return context.show(answer, () => `${id ?? 'nothing'} is ${id === null ? '' : 'not '}started any more\n`)
  },
})

export const dispatchResume = defineCommand({
  name: 'dispatch resume',
  summary: 'start agents again after a pause',
  usage: '[<agent>]',
  help: `Ends the pause of all, or of one agent.

  mail4agent dispatch resume
  mail4agent dispatch resume @backend`,
  options: {},
  words: [0, 1],
  async run(context) {
    const [word] = context.words
    const id = word === undefined ? null : agentName(word)
    const client = await context.operator()
    const answer = await client.admin('dispatch/resume', { id })
    return context.show(answer, () => `${id ?? 'agents'} ${id === null ? 'are' : 'is'} started again\n`)
  },
})

export const dispatchAttend = defineCommand({
  name: 'dispatch attend',
  summary: 'stand between the mailbox and one run; the mailbox starts this itself',
  usage: '<folder>',
  help: `The mailbox starts this for each run of an agent: a process that outlives a restart of the mailbox, keeps the agent's output
in files and writes down how it ended. It does nothing for a run that has been attended already.

  mail4agent dispatch attend <data folder>/dispatch/12/1`,
  options: {},
  words: [1, 1],
  async run(context) {
    return (await attend(resolve(context.io.cwd, context.word(0, 'the folder')))) ? 0 : 1
  },
})
