// Rooms and their members.
import { admin } from './api.ts'
import { readDirectory } from './directory.ts'
import { useMe } from './me.ts'
import { Empty, Title, Trouble, Waiting } from './parts.tsx'
import { to } from './router.ts'
import { Line } from './text.tsx'
import { useLoad } from './use-load.ts'

/** Members are named to operators; others learn how many there are. */
type Shown = { id: string; label: string | null; members: string[] | null; count: number; mine: boolean }

export function Rooms() {
  const { operator, account } = useMe()
  const { data, error } = useLoad('rooms', () => (operator ? readRooms(account) : readOwn()))
  return (
    <>
      <Title text="Rooms" />
      <Trouble error={error} />
      {data === null && !error && <Waiting />}
      {data?.length === 0 && <Empty>There are no rooms. mail4agent admin room add build makes one.</Empty>}
      <ul class="rooms">
        {data?.map((room) => (
          <Room key={room.id} room={room} />
        ))}
      </ul>
    </>
  )
}

async function readRooms(account: string): Promise<Shown[]> {
  const rooms: Shown[] = []
  for (let after: string | null = null; ; ) {
    const page: Awaited<ReturnType<typeof admin<'room/list'>>> = await admin('room/list', { limit: 256, after })
    for (const { id, label, members } of page.rooms)
      rooms.push({ id, label, members, count: members.length, mine: members.includes(account) })
    if (!page.has_more || page.after === null) return rooms
    after = page.after
  }
}

async function readOwn(): Promise<Shown[]> {
  const { rooms } = await readDirectory()
  return rooms.map(({ id, member, members }) => ({ id, label: null, members: null, count: members, mine: member }))
}

function Room({ room: { id, label, members, count, mine } }: { room: Shown }) {
  const { writes } = useMe()
  return (
    <li>
      <div class="line">
        <h2>#{id}</h2>
        {label && <Line text={label} />}
        <span class="note">
          {count} {count === 1 ? 'member' : 'members'}
          {mine && ', you among them'}
        </span>
        {/* only members post to a room */}
        {writes && mine && (
          <a class="button" href={to('write', [], { to: `#${id}` })}>
            Write to #{id}
          </a>
        )}
      </div>
      {members && members.length > 0 && (
        <ul class="members">
          {members.map((member) => (
            <li key={member}>
              <a href={to('mail', [member])}>{member}</a>
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}
