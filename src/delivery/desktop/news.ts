// What a desktop notification tells, and its words: what any lock screen may show. Never a subject or a body.

/** From each account, how many letters. */
export type Senders = ReadonlyMap<string, number>

/** A dispatch that is done, or came to nothing. */
export type Ended = { agent: string; failed: boolean }

/** What the newest wake of an agent came to; `held`: its user has to approve. */
export type Wake = { agent: string; state: 'woken' | 'held' | 'failed' }

/** One kind each for what is told of; a new kind is a member here and its words below. */
export type News =
  | { kind: 'mail'; account: string; senders: Senders }
  | { kind: 'dispatch'; account: string; ended: readonly Ended[] }
  | { kind: 'wake'; account: string; wakes: readonly Wake[] }
  | { kind: 'test'; account: string }

/** Plain text: whoever shows it sees to what its desktop would take for markup. */
export type Shown = { title: string; body: string }

const NAMED = 3

/** Names of accounts hold letters, digits and `._+-@`; from another machine nothing else is taken either. */
const plain = (name: string): string => name.replaceAll(/[^A-Za-z0-9._+@-]/g, '?').slice(0, 64)

const WORDS: { [K in News['kind']]: (news: Extract<News, { kind: K }>) => Shown } = {
  mail({ account, senders }) {
    const counts = [...senders]
    const letters = counts.reduce((sum, [, count]) => sum + count, 0)
    const named = counts.slice(0, NAMED).map(([name, count]) => `${count} from ${plain(name)}`)
    const others = counts.length - named.length
    return {
      title: `mail4agent: ${letters} new letter${letters === 1 ? '' : 's'} for ${plain(account)}`,
      body: [...named, ...(others > 0 ? [`${others} other sender${others === 1 ? '' : 's'}`] : [])].join(', '),
    }
  },
  dispatch({ ended }) {
    const failed = ended.filter((one) => one.failed)
    const done = ended.filter((one) => !one.failed)
    const said = [...groups(failed, 'failed'), ...groups(done, 'is done')] // what failed is read first
    const others = said.length - NAMED
    return {
      title: `mail4agent: ${[...counted(done.length, 'done'), ...counted(failed.length, 'failed')].join(', ')}`,
      body: [...said.slice(0, NAMED), ...(others > 0 ? [`${others} other${others === 1 ? '' : 's'}`] : [])].join(', '),
    }
  },
  wake({ wakes }) {
    const [first, ...more] = wakes
    if (first && more.length === 0) return wakeAlone(first)
    const of = (state: Wake['state']) => wakes.filter((wake) => wake.state === state).map(({ agent }) => plain(agent))
    const [failed, held, woken] = [of('failed'), of('held'), of('woken')] // what needs somebody is read first
    const counts = [
      ...(woken.length > 0 ? [`woke ${woken.length}`] : []),
      ...(held.length > 0 ? [`${held.length} held`] : []),
      ...(failed.length > 0 ? [`${failed.length} not woken`] : []),
    ]
    const said = [
      ...failed.map((agent) => `${agent} could not be woken`),
      ...held.map((agent) => `${agent} needs its user`),
      ...woken.map((agent) => `woke ${agent}`),
    ]
    const others = said.length - NAMED
    return {
      title: `mail4agent: agents with mail: ${counts.join(', ')}`,
      body: [...said.slice(0, NAMED), ...(others > 0 ? [`${others} other${others === 1 ? '' : 's'}`] : [])].join(', '),
    }
  },
  test: ({ account }) => ({
    title: 'mail4agent: this is a test',
    body: `So it looks when mail comes for ${plain(account)}.`,
  }),
}

function wakeAlone({ agent, state }: Wake): Shown {
  const name = plain(agent)
  if (state === 'woken') return { title: `mail4agent: woke ${name}`, body: 'It has mail.' }
  if (state === 'held')
    return {
      title: `mail4agent: ${name} needs its user`,
      body: 'It has mail, and waits for somebody to approve that it starts.',
    }
  return { title: `mail4agent: ${name} could not be woken`, body: `It has mail. Why: mail4agent wake status ${name}` }
}

const counted = (count: number, how: string): string[] =>
  count === 0 ? [] : [`${count} dispatch${count === 1 ? '' : 'es'} ${how}`]

/** Of each agent once: `backend failed`, `codex is done (3)`. */
function groups(ended: readonly Ended[], how: string): string[] {
  const counts = new Map<string, number>()
  for (const { agent } of ended) counts.set(agent, (counts.get(agent) ?? 0) + 1)
  return [...counts].map(([agent, count]) => `${plain(agent)} ${how}${count === 1 ? '' : ` (${count})`}`)
}

export function wordsOf(news: News): Shown {
  if (news.kind === 'mail') return WORDS.mail(news)
  if (news.kind === 'wake') return WORDS.wake(news)
  return news.kind === 'dispatch' ? WORDS.dispatch(news) : WORDS.test(news)
}
