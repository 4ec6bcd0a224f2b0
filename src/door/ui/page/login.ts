// The login: out of the link's fragment, exchanged for a key, kept for this tab alone, over when the mailbox says so.
import type { UiAnswer } from '../../../wire/ui.ts'
import { post, Refused, reach } from './api.ts'
import { Followed } from './emitter.ts'

/** `boot` tells a mailbox that was restarted from one that ended the login. */
export type Login = UiAnswer<'login'> & { boot: string }

const KEY = 'm4a.login'
const LINK = /^#login=([0-9a-f]{64})$/

export const login = new Followed<Login | null>(stored())
/** Why there is no login, in a sentence; empty where nobody has tried. */
export const reason = new Followed('')
export const entering = new Followed(false)

function stored(): Login | null {
  const text = sessionStorage.getItem(KEY)
  return text === null ? null : JSON.parse(text)
}

/** Also when a new link is put into the address of this very page. */
export function beginLogin(): void {
  void takeLink()
  window.addEventListener('hashchange', () => void takeLink())
}

async function takeLink(): Promise<void> {
  const secret = LINK.exec(location.hash)?.[1]
  if (secret === undefined) return
  // neither the history nor a shared screen should hold it, not even for the moment that it is still good
  history.replaceState(null, '', location.pathname)
  entering.set(true)
  try {
    const boot = await bootOf()
    const answer = await post<UiAnswer<'login'>>('/ui/login', { secret }, null)
    const entered = { ...answer, boot }
    sessionStorage.setItem(KEY, JSON.stringify(entered))
    reason.set('')
    login.set(entered)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    reason.set(`${sentence(error.message)} ${sentence(error.hint)}`)
    forget()
  } finally {
    entering.set(false)
  }
}

/** The mailbox does not know the key any more. */
export function endLogin(message: string): void {
  const before = login.value
  forget()
  reason.set(sentence(message))
  if (before === null) return
  if (Date.parse(before.expires_at) <= Date.now()) return reason.set('Your login has expired.')
  bootOf()
    .then((boot) => {
      if (boot !== before.boot) reason.set('The mailbox was restarted, and that ends every login.')
    })
    .catch(() => {})
}

/** Ends this login, here and in the mailbox. */
export function leave(): void {
  const key = login.value?.key ?? null
  forget()
  reason.set('You have logged out.')
  if (key !== null) post('/ui/logout', {}, key).catch(() => {})
}

function forget(): void {
  sessionStorage.removeItem(KEY)
  login.set(null)
}

async function bootOf(): Promise<string> {
  const response = await reach('/health', {})
  const { started_at } = await response.json()
  return String(started_at)
}

const sentence = (text: string): string => (text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`)
