// Matrix rooms of this machine: who may use them is decided here; link/ does what is asked. Every door calls this one function.
import type { AccountRow } from '../store/rows.ts'
import type { ChatAnswer, ChatCommand, ChatRequest } from '../wire/chat.ts'
import { denied, Refusal } from '../wire/refusal.ts'
import type { Caller, Mail } from './mail.ts'

/** Persons and operators, and the accounts that were granted it: the rooms are those of the machine's one user. */
export const mayChat = ({ can, kind }: AccountRow): boolean => can.chat === true || can.operator || kind === 'person'

/**
 * Runs a chat command for a caller. The request has passed the schema of the command.
 * @throws Refusal `permission_denied`, `link_off`, `homeserver`, and those of the command
 */
export async function chat<C extends ChatCommand>(
  mail: Mail,
  command: C,
  caller: Caller,
  request: ChatRequest<C>,
): Promise<ChatAnswer<C>> {
  if (!mayChat(caller.account)) throw denied('chat')
  if (!mail.link) throw new Refusal('link_off', 'this mailbox can have no link')
  return mail.link.chat(command, caller, request)
}
