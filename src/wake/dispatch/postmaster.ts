// Letters that the mailbox itself writes: what came of a dispatch that failed, and answers to pings. RFC 5321 §4.5.1 has the name.
import { randomBytes } from 'node:crypto'
import type { Attestor } from '../../attest/attestor.ts'
import { digestOf } from '../../engine/admin/secret.ts'
import { fragmentOf, threadOf } from '../../engine/fragment.ts'
import type { Caller } from '../../engine/mail.ts'
import { instanceKey, sessionName } from '../../identity/session-id.ts'
import { type AccountRow, KIND, type MessageRow, type Recipient, type SessionRow } from '../../store/rows.ts'
import type { Store } from '../../store/store.ts'
import { LIMITS } from '../../wire/limits.ts'
import { messageId } from '../../wire/names.ts'
import { bytes } from '../../wire/text.ts'

const NAME = 'postmaster'

export type SystemLetter = {
  to: Recipient
  subject: string
  body: string
  parent: MessageRow | null
  /** Once for each key, also when the mailbox died in between. */
  key: string
}

export class Postmaster {
  #caller: Promise<Caller> | null = null

  constructor(
    readonly store: Store,
    readonly attestor: Attestor,
  ) {}

  /** Account and session of the mailbox's own letters, made when the first is written. The session is this very process. */
  caller(): Promise<Caller> {
    this.#caller ??= this.#open().catch((error) => {
      this.#caller = null
      throw error
    })
    return this.#caller
  }

  /** Its message id (sequence). */
  async write({ to, subject, body, parent, key }: SystemLetter): Promise<number> {
    const { account, session } = await this.caller()
    const hop = Math.min(LIMITS.hopMax, (parent?.hop ?? 0) + 1)
    const fragment = fragmentOf(account.name, session.name, parent ? threadOf(parent.json) : null, {
      subject: cut(subject, LIMITS.subject),
      body: cut(body, LIMITS.body),
      replyTo: parent ? messageId(parent.id, parent.random) : null,
      correlation: null,
      refs: [],
      hop,
      onBehalfOf: null,
      wakeSuppressed: hop > LIMITS.hopQuiet ? 'hop' : null,
      recipients: null,
    })
    const hash = digestOf(key)
    const { id } = await this.store.send({
      account,
      session,
      scope: 0,
      thread: parent?.thread ?? 0,
      parent: parent?.id ?? null,
      hop,
      recipients: [to],
      fragment,
      idempotency: { key, hash },
      upsert: null,
      close: null,
    })
    return id
  }

  async #open(): Promise<Caller> {
    const account = await this.#account()
    const self = this.attestor.self()
    if (!self) throw new Error('the mailbox cannot tell its own process')
    const name = sessionName(instanceKey(self), null)
    const known = this.store.registry.session(account.id, name)
    return { account, session: known ?? (await this.#session(account, name, self)) }
  }

  /** Nobody has its token, and it may do nothing: an account of that name that may is somebody else's. */
  async #account(): Promise<AccountRow> {
    for (let number = 1; ; number++) {
      const name = number === 1 ? NAME : `${NAME}-${number}`
      const known = this.store.registry.account(name)
      if (known && !Object.values(known.can).some((granted) => granted)) return known
      if (known) continue
      return this.store.addAccount({
        name,
        label: 'the mailbox itself',
        kind: 'agent',
        can: { send: false, read: false, dispatch: false, behalf: false, operator: false },
        digest: digestOf(randomBytes(32).toString('hex')),
      })
    }
  }

  #session(account: AccountRow, name: string, self: NonNullable<ReturnType<Attestor['self']>>): Promise<SessionRow> {
    return this.store.addSession({
      account: account.id,
      name,
      instance: instanceKey(self),
      conversation: null,
      attested: {
        pid: self.pid,
        started_at_unix_ms: self.startedAtMs,
        exe: self.exe,
        uid: self.uid,
        spawned_by: null,
      },
      corroborated: {
        provider: null,
        provider_session_id: null,
        conversation: null,
        model: null,
        cwd: null,
        sources: {},
      },
      predecessor: null,
    })
  }
}

/** To whom a letter about what `account` asked for goes: the session that asked while it runs, else its account. */
export function recipientOf(
  store: Store,
  account: number,
  box: number,
  alive: (session: SessionRow) => boolean,
): Recipient | null {
  const row = store.registry.accountById(account)
  if (!row || store.registry.account(row.name)?.id !== row.id) return null
  const session = store.registry.sessionByBox(box)
  if (session && session.account === account && session.ended === null && alive(session))
    return { text: `${row.name}/${session.name}`, kind: KIND.session, box, account, room: 0 }
  return { text: row.name, kind: KIND.account, box: row.box, account, room: 0 }
}

function cut(text: string, limit: number): string {
  let short = text
  while (bytes(short) > limit)
    short = `${short.slice(0, Math.max(0, short.length - Math.ceil((bytes(short) - limit) / 2) - 2))}…`
  return short
}
