// The mail operations, once: name → request, answer, capability, summary. HTTP routes, OpenAPI, MCP tools and CLI are made from it.
import type { Static, TSchema } from '@sinclair/typebox'
import * as answers from './answers.ts'
import * as dispatch from './dispatch.ts'
import * as filter from './filter.ts'
import * as people from './people.ts'
import * as requests from './requests.ts'
import { StandByAnswer, StandByRequest } from './wake.ts'

export type Capability = 'send' | 'read' | 'dispatch' | 'behalf' | 'chat' | 'operator'
type Operation = { summary: string; request: TSchema; answer: TSchema; need: Capability | null }

export const OPERATIONS = {
  send: {
    summary: 'send a message, or reply to one',
    request: requests.SendRequest,
    answer: answers.SendAnswer,
    need: 'send',
  },
  inbox: {
    summary: 'what is not closed yet, oldest first; may wait for more',
    request: requests.InboxRequest,
    answer: answers.InboxAnswer,
    need: 'read',
  },
  get: {
    summary: 'one message, whole; marks it opened',
    request: requests.GetRequest,
    answer: answers.GetAnswer,
    need: 'read',
  },
  ack: {
    summary: 'acknowledge: close messages',
    request: requests.AckRequest,
    answer: answers.AckAnswer,
    need: 'read',
  },
  close: { summary: 'the same as ack', request: requests.AckRequest, answer: answers.AckAnswer, need: 'read' },
  reopen: {
    summary: 'put closed messages back',
    request: requests.ReopenRequest,
    answer: answers.ReopenAnswer,
    need: 'read',
  },
  claim: {
    summary: 'take account mail for a while',
    request: requests.ClaimRequest,
    answer: answers.ClaimAnswer,
    need: 'read',
  },
  unread: {
    summary: 'how much is not closed',
    request: requests.UnreadRequest,
    answer: answers.UnreadAnswer,
    need: 'read',
  },
  notice: {
    summary: 'what mail this session has not been told of yet; tells each letter once',
    request: requests.NoticeRequest,
    answer: answers.NoticeAnswer,
    need: 'read',
  },
  sent: {
    summary: 'what the account sent, newest first, with what became of it',
    request: requests.SentRequest,
    answer: answers.SentAnswer,
    need: 'read',
  },
  thread: {
    summary: 'the messages of a thread that the caller may read',
    request: requests.ThreadRequest,
    answer: answers.ListAnswer,
    need: 'read',
  },
  search: {
    summary: 'full-text search, newest first',
    request: requests.SearchRequest,
    answer: answers.ListAnswer,
    need: 'read',
  },
  receipts: {
    summary: 'what became of what the account sent',
    request: requests.ReceiptsRequest,
    answer: answers.ReceiptsAnswer,
    need: 'read',
  },
  archive: {
    summary: 'closed mail, newest first',
    request: requests.ArchiveRequest,
    answer: answers.ListAnswer,
    need: 'read',
  },
  export: {
    summary: 'mail to be carried elsewhere, in the order in which it came',
    request: requests.ExportRequest,
    answer: answers.ExportAnswer,
    need: 'read',
  },
  whoami: {
    summary: 'the caller: address, rooms, card',
    request: requests.WhoamiRequest,
    answer: answers.WhoamiAnswer,
    need: null,
  },
  status: {
    summary: 'declare what this session works on',
    request: requests.StatusRequest,
    answer: answers.StatusAnswer,
    need: null,
  },
  directory: {
    summary: 'accounts with their live sessions, and rooms',
    request: requests.DirectoryRequest,
    answer: answers.DirectoryAnswer,
    need: 'read',
  },
  ping: {
    summary: 'is anybody reading that mailbox',
    request: requests.PingRequest,
    answer: answers.PingAnswer,
    need: 'read',
  },
  follow: {
    summary: 'mail as it comes, by a cursor that the caller keeps; opens nothing',
    request: filter.FollowRequest,
    answer: filter.FollowAnswer,
    need: 'read',
  },
  close_all: {
    summary: 'close what was listed, or what a filter finds',
    request: filter.CloseAllRequest,
    answer: filter.CloseAllAnswer,
    need: 'read',
  },
  contacts: {
    summary: 'accounts with what went between them and the caller, rooms, own aliases',
    request: people.ContactsRequest,
    answer: people.ContactsAnswer,
    need: 'read',
  },
  alias: {
    summary: 'give an address a name of your own',
    request: people.AliasRequest,
    answer: people.AliasAnswer,
    need: 'read',
  },
  rooms: {
    summary: 'rooms, with the members of your own',
    request: people.RoomsRequest,
    answer: people.RoomsAnswer,
    need: 'read',
  },
  join: {
    summary: 'become a member of a room; only operators may',
    request: people.RoomRequest,
    answer: people.RoomAnswer,
    need: 'operator',
  },
  leave: {
    summary: 'leave a room: its mail is out of sight from then on',
    request: people.RoomRequest,
    answer: people.RoomAnswer,
    need: 'read',
  },
  stats: {
    summary: 'figures of a mailbox: by state, by peer, by day',
    request: people.StatsRequest,
    answer: people.StatsAnswer,
    need: 'read',
  },
  notify: {
    summary: 'desktop notifications of a person: try, switch, ask how they fare',
    request: requests.NotifyRequest,
    answer: answers.NotifyAnswer,
    need: 'read',
  },
  dispatch_wake: {
    summary: 'start an agent to look at its mail',
    request: dispatch.DispatchWakeRequest,
    answer: dispatch.DispatchWakeAnswer,
    need: 'dispatch',
  },
  dispatch_status: {
    summary: 'dispatches that the caller asked for or does, newest first; an operator sees all',
    request: dispatch.DispatchStatusRequest,
    answer: dispatch.DispatchStatusAnswer,
    need: 'read',
  },
  dispatch_show: {
    summary: 'one dispatch with its attempts',
    request: dispatch.DispatchShowRequest,
    answer: dispatch.DispatchShowAnswer,
    need: 'read',
  },
  dispatch_logs: {
    summary: 'what an attempt printed',
    request: dispatch.DispatchLogsRequest,
    answer: dispatch.DispatchLogsAnswer,
    need: 'read',
  },
  dispatch_stop: {
    summary: 'end a dispatch that is queued or running',
    request: dispatch.DispatchStopRequest,
    answer: dispatch.DispatchStopAnswer,
    need: 'read',
  },
  stand_by: {
    summary: 'a door of a running client waits for the text that is to start a turn',
    request: StandByRequest,
    answer: StandByAnswer,
    need: 'read',
  },
} as const satisfies Record<string, Operation>

export type OperationName = keyof typeof OPERATIONS
export type RequestOf<N extends OperationName> = Static<(typeof OPERATIONS)[N]['request']>
export type AnswerOf<N extends OperationName> = Static<(typeof OPERATIONS)[N]['answer']>
export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[]
