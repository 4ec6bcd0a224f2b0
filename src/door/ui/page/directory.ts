// Every account with its sessions, read a page at a time.
import type { DirectoryAnswer } from '../../../wire/answers.ts'
import { mail } from './api.ts'

export type Participant = DirectoryAnswer['participants'][number]
export type Room = DirectoryAnswer['rooms'][number]

export async function readDirectory(): Promise<{ participants: Participant[]; rooms: Room[] }> {
  const participants: Participant[] = []
  for (let after: string | null = null; ; ) {
    const page: DirectoryAnswer = await mail('directory', { limit: 256, after, max_bytes: 1_000_000 })
    participants.push(...page.participants)
    if (!page.has_more || page.after === null) return { participants, rooms: page.rooms }
    after = page.after
  }
}
