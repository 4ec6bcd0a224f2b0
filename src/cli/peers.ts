// mail4agent peers: whom one can write to.

import type { SessionEntry } from '../wire/card.ts'
import { LIMITS } from '../wire/limits.ts'
import type { AnswerOf } from '../wire/operations.ts'
import { defineCommand } from './command.ts'
import type { Context } from './context.ts'
import { brief } from './letter.ts'
import { span } from './times.ts'

type Directory = AnswerOf<'directory'>

export const peers = defineCommand({
  name: 'peers',
  summary: 'accounts with their live sessions, and rooms',
  usage: '',
  help: `Lists whom you can write to: accounts, their sessions (live: that very process still runs) and rooms. Write to the account
when any of its sessions may answer, to a session when you mean that one.

  mail4agent peers
  mail4agent peers --all                also sessions that ended within the last hour`,
  options: { all: { short: 'a', help: 'also sessions that have ended' } },
  words: [0, 0],
  async run(context) {
    const client = await context.mailbox()
    const answer: Directory = await client.call('directory', { limit: LIMITS.pageMax })
    for (let page = answer; page.has_more && page.after !== null; ) {
      page = await client.call('directory', { limit: LIMITS.pageMax, after: page.after })
      answer.participants.push(...page.participants)
      answer.has_more = page.has_more
      answer.after = page.after
    }
    return context.show(answer, () => directoryText(answer, context, context.options.all))
  },
})

function directoryText(answer: Directory, context: Context, all: boolean): string {
  const accounts = answer.participants.flatMap(({ id, label, kind, sessions }) => {
    const live = sessions.filter((session) => session.live)
    const shown = (all ? sessions : live).map((session) => sessionRow(session, answer.now, context))
    return [[id, kind, live.length === 0 ? 'no live session' : `${live.length} live`, label ?? ''], ...shown]
  })
  const rooms = answer.rooms.map(({ id, member, members }) => [
    `#${id}`,
    'room',
    members === 1 ? '1 member' : `${members} members`,
    member ? 'you are a member' : '',
  ])
  return context.table(['address', 'kind', 'presence', 'about'], [...accounts, ...rooms])
}

function sessionRow({ address, live, last_seen_unix_ms, card }: SessionEntry, now: string, context: Context): string[] {
  const { corroborated, declared } = card
  const seen = span((Date.parse(now) - last_seen_unix_ms) / 1_000)
  const about = [declared.role, declared.working_on, corroborated.cwd].filter((text) => text !== null)
  return [brief(address, context), 'session', `${live ? 'live' : 'ended'}, seen ${seen} ago`, about.join(' · ')]
}
