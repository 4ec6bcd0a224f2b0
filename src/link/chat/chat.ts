// The Matrix rooms of this machine: one function a command, and what /sync tells of rooms beside mail.
import type { Caller } from '../../engine/mail.ts'
import type { ChatAnswer, ChatCommand, ChatRequest } from '../../wire/chat.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { Link } from '../link.ts'
import { HomeserverError } from '../matrix/homeserver.ts'
import type { JoinedRoom } from '../matrix/sync-answer.ts'
import { Arrivals } from './arrivals.ts'
import { Bindings } from './bindings.ts'
import { Board } from './board.ts'
import { findRooms, findUsers } from './find.ts'
import { list, mentions, read, retry, thread } from './look.ts'
import { data, mark, receipts, tag, typing } from './marks.ts'
import { create, invite, join, kick, leave } from './membership.ts'
import { edit, forward, react, redact, reply, send } from './say.ts'

type Commands = {
  [C in ChatCommand]: (chat: Chat, caller: Caller, request: ChatRequest<C>) => Promise<ChatAnswer<C>>
}
const alone =
  <Q, A>(work: (chat: Chat, request: Q) => Promise<A>) =>
  (chat: Chat, _caller: Caller, request: Q): Promise<A> =>
    work(chat, request)

const COMMANDS: Commands = {
  list: (chat) => list(chat),
  read,
  send,
  reply,
  edit,
  react,
  redact,
  forward,
  mentions,
  thread,
  receipts: alone(receipts),
  mark: alone(mark),
  typing: alone(typing),
  join: alone(join),
  leave: alone(leave),
  create: alone(create),
  invite: alone(invite),
  kick: alone(kick),
  tag: alone(tag),
  data: alone(data),
  find_rooms: alone(findRooms),
  find_users: alone(findUsers),
  retry: alone(retry),
}

export class Chat {
  readonly bindings: Bindings
  readonly board: Board
  readonly arrivals: Arrivals

  constructor(readonly link: Link) {
    this.bindings = new Bindings(link)
    this.board = new Board(link, this.bindings)
    this.arrivals = new Arrivals(link.links, (user) => link.peers.byUser(user) !== null)
  }

  /** @throws Refusal `homeserver` with what it answered, and those of the command */
  run<C extends ChatCommand>(command: C, caller: Caller, request: ChatRequest<C>): Promise<ChatAnswer<C>> {
    return asRefusal(() => COMMANDS[command](this, caller, request))
  }

  /** @throws Refusal `unknown_chat`, `unknown_room`, `name_taken`, `carries_mail`, `homeserver` */
  bind(text: string, local: string | null): Promise<{ room: string; local: string | null }> {
    return asRefusal(async () => {
      const room = await this.board.find(text)
      if (local === null) await this.bindings.unbind(room)
      else await this.bindings.bind(room, local)
      return { room, local: this.bindings.of(room)?.local ?? null }
    })
  }

  /** What an answer of /sync says of a room beside its mail. */
  heard({ id, state, timeline, ephemeral }: JoinedRoom): void {
    if ([...state, ...timeline].some((event) => event.state_key !== undefined)) this.board.changed(id)
    this.board.heard(id, ephemeral)
  }
}

async function asRefusal<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof HomeserverError)) throw error
    if (error.status !== 429) throw error.toRefusal()
    throw new Refusal('rate_limited', `the homeserver asks to wait: ${error.message}`, { retry_after_ms: error.wait })
  }
}
