// mail4agent notify: desktop notifications of a person.
import { defineCommand } from './command.ts'
import { escapeLine } from './escape.ts'
import { clockAndAge } from './times.ts'
import { nearest, usage } from './usage.ts'

const WORDS = ['status', 'test', 'on', 'off'] as const

export const notify = defineCommand({
  name: 'notify',
  summary: 'desktop notifications: try, switch, ask how they fare',
  usage: '<test | status | on | off>',
  help: `The mailbox shows a notification on the desktop when mail has come for a person: how much and from whom, never what it
says. They are on for persons, at most three at once and then one every 20 seconds; what comes together is shown as one.
It is the desktop of the session that the mailbox was started in: on Linux its D-Bus session bus, on macOS the Notification
Center, on Windows a toast.

  mail4agent notify test
  mail4agent notify off --as lukas`,
  options: {},
  words: [1, 1],
  async run(context) {
    const asked = context.word(0, 'one of test, status, on, off')
    const word = WORDS.find((one) => one === asked)
    if (word === undefined) {
      const meant = nearest(asked, WORDS)
      throw usage(
        `notify takes ${WORDS.join(', ')}`,
        meant === null ? undefined : `did you mean: mail4agent notify ${meant}`,
      )
    }
    const client = await context.mailbox()
    const answer = await client.call('notify', { do: word })
    const { account, on, through, waiting, shown_at, failure, failure_at, now } = answer
    return context.show(answer, () =>
      context.facts([
        ['account', account],
        ['notifications', `${on ? 'on' : 'off'}${waiting ? ', one is about to be shown' : ''}`],
        ['through', through],
        ['last shown', shown_at === null ? 'never' : clockAndAge(shown_at, now)],
        [
          'failed',
          failure === null || failure_at === null ? null : `${escapeLine(failure)}, ${clockAndAge(failure_at, now)}`,
        ],
      ]),
    )
  },
})
