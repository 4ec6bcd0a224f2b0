// Who reads mail here: every account with its sessions, and the boxes in which letters wait for nobody.
import type { MailClient } from '../../client/client.ts'
import type { DirectoryAnswer, PingAnswer } from '../../wire/answers.ts'
import type { SessionEntry } from '../../wire/card.ts'
import { LIMITS } from '../../wire/limits.ts'
import type { Refusal } from '../../wire/refusal.ts'
import { asAnybody } from './callers.ts'
import type { Checkup } from './checkup.ts'

export type Readers = {
  participants: DirectoryAnswer['participants']
  /** The accounts that have mail and no live session. */
  waiting: PingAnswer[]
}

export const lookAtReaders = (checkup: Checkup): Promise<Readers | Refusal> =>
  asAnybody(checkup, async (mailbox) => {
    const participants = await everybody(mailbox)
    const waiting: PingAnswer[] = []
    for (const { id } of participants) {
      const answer = await mailbox.call('ping', { target: id })
      if (answer.unread > 0 && answer.live_sessions === 0) waiting.push(answer)
    }
    return { participants, waiting }
  })

/** Sessions of our own program are commands of a person. */
export const isAgent = ({ card: { attested } }: SessionEntry): boolean =>
  attested.exe === null || !/(^|[\\/])mail4agent(\.exe)?$/.test(attested.exe)

async function everybody(mailbox: MailClient): Promise<Readers['participants']> {
  const all: Readers['participants'] = []
  for (let after: string | null = null; ; ) {
    const page: DirectoryAnswer = await mailbox.call('directory', { after, max_bytes: LIMITS.budgetMax })
    all.push(...page.participants)
    if (!page.has_more) return all
    after = page.after
  }
}
