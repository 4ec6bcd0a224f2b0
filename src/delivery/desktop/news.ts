// What a desktop notification tells, and its words: what any lock screen may show. Never a subject or a body.

/** From each account, how many letters. */
export type Senders = ReadonlyMap<string, number>

/** One kind each for what is told of; a new kind is a member here and its words below. */
export type News = { kind: 'mail'; account: string; senders: Senders } | { kind: 'test'; account: string }

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
  test: ({ account }) => ({
    title: 'mail4agent: this is a test',
    body: `So it looks when mail comes for ${plain(account)}.`,
  }),
}

export const wordsOf = (news: News): Shown => (news.kind === 'mail' ? WORDS.mail(news) : WORDS.test(news))
