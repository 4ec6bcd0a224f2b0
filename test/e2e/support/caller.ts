// A caller in the test's own process: plain HTTP with one account's token, so one session of that account.
import type { Mailbox } from './mailbox.ts'

export type Answer = { status: number; body: Record<string, any>; text: string; headers: Headers }
export type Called = { isError: boolean; content: Record<string, any> }

export class Caller {
  constructor(
    readonly mailbox: Mailbox,
    readonly id: string,
    readonly token: string,
  ) {}

  /** Makes the account; `more` are fields of /admin/participant. */
  static async make(mailbox: Mailbox, id: string, more: object = {}): Promise<Caller> {
    return new Caller(mailbox, id, await mailbox.account(id, more))
  }

  static operator(mailbox: Mailbox): Caller {
    return new Caller(mailbox, 'operator', mailbox.operatorKey)
  }

  /** POST with a JSON body; undefined sends none. A string is sent as it is. */
  async post(path: string, request?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(this.mailbox.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json', ...headers },
      ...(request === undefined ? {} : { body: typeof request === 'string' ? request : JSON.stringify(request) }),
    })
    const text = await response.text()
    const json = /json/.test(response.headers.get('content-type') ?? '') && text !== ''
    return { status: response.status, body: json ? JSON.parse(text) : {}, text, headers: response.headers }
  }

  /** The answer of a mail operation. Throws what it is refused with. */
  async ask(op: string, request?: unknown): Promise<Record<string, any>> {
    const { status, text, body } = await this.post(`/mail/${op}`, request)
    if (status !== 200) throw new Error(`${op} is refused with ${status}: ${text}`)
    return body
  }

  /** The refusal of a mail operation, with its status. Throws when it is not refused. */
  async refusal(op: string, request?: unknown): Promise<Record<string, any>> {
    const { status, text, body } = await this.post(`/mail/${op}`, request)
    if (status === 200) throw new Error(`${op} is not refused: ${text}`)
    return { status, ...body }
  }

  async send(to: unknown, more: object = {}): Promise<Record<string, any>> {
    return this.ask('send', { to, subject: 's', body: 'b', ...more })
  }

  async address(): Promise<string> {
    return (await this.ask('whoami')).address_text
  }

  async inbox(request: object = {}): Promise<string[]> {
    return (await this.ask('inbox', request)).messages.map((one: { message_id: string }) => one.message_id)
  }

  /** POST /mcp of one JSON-RPC message, legacy era. */
  async rpc(message: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.post('/mcp', message, headers)
  }

  /** A legacy tools/call; `name` without m4a_mail_. */
  async tool(name: string, args: object = {}): Promise<Called> {
    const params = { name: `m4a_mail_${name}`, arguments: args }
    const { body, text } = await this.rpc({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    if (!body.result) throw new Error(`no result: ${text}`)
    return { isError: body.result.isError === true, content: body.result.structuredContent }
  }
}

/** Messages in the store, as /metrics tells an operator. */
export async function storedMessages(mailbox: Mailbox): Promise<number> {
  const answer = await fetch(`${mailbox.url}/metrics`, { headers: { authorization: `Bearer ${mailbox.operatorKey}` } })
  return Number(/^m4a_messages (\d+)$/m.exec(await answer.text())?.[1])
}

let made = 0
/** A name that no other test on the same mailbox uses. */
export const fresh = (base: string): string => `${base}-${++made}`

/** Two new accounts in one new room. */
export async function pair(mailbox: Mailbox): Promise<{ ann: Caller; bob: Caller; room: string }> {
  const [ann, bob] = [await Caller.make(mailbox, fresh('ann')), await Caller.make(mailbox, fresh('bob'))]
  const room = fresh('room')
  await mailbox.admin('room', { id: room })
  for (const { id } of [ann, bob]) await mailbox.admin('room/member/add', { room, participant: id })
  return { ann, bob, room }
}
