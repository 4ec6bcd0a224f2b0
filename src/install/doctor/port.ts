// The TCP port: ours, free, or held by another program, which is named where the kernel tells.
import { connect } from 'node:net'
import { type Attestor, type Endpoint, openAttestor, type Verdict } from '../../attest/attestor.ts'
import type { Health } from '../../client/client.ts'
import { Refusal } from '../../wire/refusal.ts'
import type { Checkup } from './checkup.ts'
import { type Found, fail, fine } from './finding.ts'
import { listenerOn } from './listener.ts'

const DIAL_MS = 2_000
const ACCEPT_TRIES = 20
const ACCEPT_MS = 25

export async function port(checkup: Checkup): Promise<Found> {
  const { call } = checkup
  const { note, alive, health, tcp } = await checkup.presence()
  if (note !== null && alive) {
    const { listening = [], unavailable = [] } = health ?? {}
    const facts = { port: note.port, listening, unavailable }
    if (tcp instanceof Refusal)
      return fail(
        `the mailbox does not answer on port ${note.port}: ${tcp.message}`,
        `stop process ${note.pid} and start it again: ${call} serve`,
        facts,
      )
    return fine(`the mailbox listens on ${listening.join(' and ')}`, facts)
  }
  const wanted = checkup.port
  if (wanted === null) return fine('any free port will do', { port: null })
  const holder = await portHolder(wanted)
  if (holder === null) return fine(`port ${wanted} is free`, { port: wanted })
  return fail(
    `port ${wanted} is held by ${isMailbox(tcp) ? 'another mailbox, ' : ''}${holder.text}`,
    `end that program, or use another port: ${call} serve --port 0`,
    { port: wanted, pid: holder.pid, exe: holder.exe, mailbox: isMailbox(tcp) },
  )
}

const isMailbox = (answer: Health | Refusal): boolean => !(answer instanceof Refusal)

type Holder = { text: string; pid: number | null; exe: string | null }

/** The refusal that names who has the port; null: nobody, or it may be any. */
export async function portRefusal(port: number): Promise<Refusal | null> {
  const holder = port === 0 ? null : await portHolder(port)
  if (holder === null) return null
  const facts = { port, pid: holder.pid, exe: holder.exe }
  return new Refusal(
    'port_taken',
    `port ${port} is held by ${holder.text}`,
    facts,
    'use another one: --port <number>, or 0 for any free one',
  )
}

/** Who listens on the port on either loopback address, in words; null: nobody does. */
async function portHolder(port: number): Promise<Holder | null> {
  return (await holderOf('127.0.0.1', port)) ?? (await holderOf('::1', port))
}

async function holderOf(address: string, port: number): Promise<Holder | null> {
  const listener = listenerOn(port)
  if (listener?.pid != null)
    return { text: `process ${listener.pid} (${listener.comm ?? 'unknown'})`, pid: listener.pid, exe: listener.exe }
  const attestor = openAttestor()
  const socket = connect({ host: address, port, timeout: DIAL_MS })
  try {
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('timeout', () => resolve(false))
    })
    if (!isOpen) return null
    // a server that defers its accept is told of us by our first bytes, tcp(7); half a request keeps it from answering
    socket.write('GET /health HTTP/1.1\r\n')
    const verdict = await accepted(attestor, { address, port }, { address, port: socket.localPort ?? 0 })
    if (!verdict.ok) {
      const uid = verdict.seen.uid
      const whose =
        verdict.kind === 'other_user' ? `a program of another user${uid === undefined ? '' : ` (${uid})`}` : null
      const unseen = listener === null ? 'another program' : `a program of another user (${listener.uid})`
      return { text: whose ?? unseen, pid: null, exe: null }
    }
    const { pid, comm, exe } = verdict.process
    return { text: `process ${pid} (${comm})`, pid, exe }
  } finally {
    socket.destroy()
    attestor.close()
  }
}

/** The peer of our own connection is the program that accepted it; until it did, the kernel shows nobody there. */
async function accepted(attestor: Attestor, there: Endpoint, here: Endpoint): Promise<Verdict> {
  for (let tries = 1; ; tries++) {
    const verdict = await attestor.tcp(() => there, here)
    const isEarly = !verdict.ok && (verdict.kind === 'peer_gone' || verdict.kind === 'no_holder')
    if (!isEarly || tries === ACCEPT_TRIES) return verdict
    await Bun.sleep(ACCEPT_MS)
  }
}
