// One line of the command socket to its answer: the kernel says who calls, `as` chooses among what the caller already is.
import type { Verdict } from '../attest/attestor.ts'
import { chat } from '../engine/chat.ts'
import { run } from '../engine/engine.ts'
import type { Caller } from '../engine/mail.ts'
import { parseAddress } from '../wire/address.ts'
import { CHAT, type ChatCommand } from '../wire/chat.ts'
import { CommandLine, type LineAnswer, SendLine } from '../wire/command.ts'
import { Json } from '../wire/json.ts'
import { LIMITS } from '../wire/limits.ts'
import { canonical } from '../wire/names.ts'
import { malformed, Refusal } from '../wire/refusal.ts'
import { shaped, understood } from './command-shapes.ts'
import { checkVerdict } from './http/caller.ts'
import { checked } from './http/checked.ts'
import type { Door } from './http/door.ts'

/** Prior clients name these two otherwise. */
const ALIASES: Readonly<Record<string, ChatCommand>> = { mentions: 'mentions', 'threads.read': 'thread' }
const PREFIX = 'rooms.'

/** Never rejects: whatever is wrong with a line is its answer. */
export async function answerLine(door: Door, verdict: Verdict, line: Uint8Array): Promise<LineAnswer> {
  door.calls.enter()
  try {
    if (door.calls.closed.aborted) throw new Refusal('shutting_down', 'the mailbox is stopping')
    const asked = read(line)
    return 'cmd' in asked ? await command(door, verdict, asked) : await send(door, verdict, asked)
  } catch (error) {
    return refusalLine(error instanceof Refusal ? error : fault(door, error))
  } finally {
    door.calls.leave()
  }
}

export const refusalLine = (refusal: Refusal): LineAnswer => ({
  ok: false,
  error: `${refusal.kind}: ${refusal.message}`,
  refusal: refusal.toJSON(),
})

function fault({ log }: Door, error: unknown): Refusal {
  log.error('internal fault', { door: 'commands', error: error instanceof Error ? error.message : String(error) })
  return new Refusal('internal', 'the mailbox failed at this line')
}

/** @throws Refusal `malformed` */
function read(line: Uint8Array): object {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line))
  } catch {
    throw malformed('line', 'is no JSON in UTF-8')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw malformed('line', 'must be a JSON object: {as, to, text} or {cmd, as, args}')
  return value
}

async function send(door: Door, verdict: Verdict, asked: object): Promise<LineAnswer> {
  const { as, to, text } = checked(SendLine, asked)
  const caller = await callerNamed(door, verdict, as)
  const request = { to, subject: subjectOf(text), body: text }
  const sent = await door.metrics.timed('send', 'command', async () => run(door.mail, 'send', caller, request))
  if (sent instanceof Json) throw new Error('a send answers an object')
  const [result] = sent.results
  const warning = result?.ok ? result.warning : undefined
  return {
    ok: true,
    room: result?.to_text ?? to,
    event_id: sent.message_id,
    ...(warning === undefined ? {} : { warning }),
  }
}

async function command(door: Door, verdict: Verdict, asked: object): Promise<LineAnswer> {
  const { cmd, as, args } = checked(CommandLine, asked)
  const name = commandNamed(cmd)
  const caller = await callerNamed(door, verdict, as)
  const request = checked(CHAT[name].request, understood(name, args ?? {}))
  const data = await door.metrics.timed(`chat/${name}`, 'command', () => chat(door.mail, name, caller, request))
  return { ok: true, data: shaped(name, data) }
}

/** @throws Refusal `malformed` */
function commandNamed(cmd: string): ChatCommand {
  const known = Object.hasOwn(ALIASES, cmd) ? ALIASES[cmd] : undefined
  const name = known ?? (cmd.startsWith(PREFIX) ? cmd.slice(PREFIX.length) : '')
  if (isCommand(name)) return name
  throw malformed(
    'cmd',
    `is no command; there are ${[...Object.keys(ALIASES), ...Object.keys(CHAT).map((one) => PREFIX + one)].join(', ')}`,
  )
}

const isCommand = (name: string): name is ChatCommand => Object.hasOwn(CHAT, name)

/**
 * The session that the calling process already is, under the name that it gives; without the rights of an operator.
 * @throws Refusal `not_you`, and those of attestation
 */
async function callerNamed(door: Door, verdict: Verdict, as: string): Promise<Caller> {
  const accounts = door.identity.already(checkVerdict(door, verdict))
  const name = nameIn(as)
  const account = accounts.find((one) => canonical(one.name) === canonical(name.account))
  const you = accounts.map((one) => one.name)
  if (!account) throw new Refusal('not_you', `the caller is no session of ${name.account}`, { you })
  const caller = await door.identity.caller(account, verdict, {}, false)
  if (name.session !== null && !caller.session.name.startsWith(name.session))
    throw new Refusal('not_you', `the caller is not that session of ${account.name}`, { you })
  // no token was shown: what an operator alone may do needs one
  return { ...caller, account: { ...caller.account, can: { ...caller.account.can, operator: false } } }
}

/** @throws Refusal `malformed` */
function nameIn(as: string): { account: string; session: string | null } {
  const address = parseAddress(as)
  if (address.kind === 'room' || address.machine !== undefined)
    throw malformed('as', 'must be an account of this machine, or account/s-session')
  return { account: address.participant, session: address.kind === 'session' ? address.session : null }
}

/** The first line, as far as a subject goes: characters, so that no text is cut inside one. */
function subjectOf(text: string): string {
  const line = (text.split(/[\r\n]/, 1)[0] ?? '').replaceAll(/\p{Cc}/gu, ' ').trim()
  const cut = [...line].slice(0, LIMITS.subject / 8).join('')
  return cut.length < line.length ? `${cut}…` : cut
}
