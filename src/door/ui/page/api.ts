// Calls of the page: JSON to this very origin, with the key of the login. Nothing is sent by itself, and no cookie says who we are.
import type { AdminAnswer, AdminRequest, AdminRoute } from '../../../wire/admin.ts'
import type { AnswerOf, OperationName, RequestOf } from '../../../wire/operations.ts'
import { endLogin, login } from './login.ts'

/** Why a call was not answered: the mailbox's refusal, or that it did not answer at all. */
export class Refused extends Error {
  constructor(
    readonly kind: string,
    message: string,
    readonly hint: string,
    readonly field: string | null,
  ) {
    super(message)
  }
}

const UNREACHABLE = ['daemon_unreachable', 'the mailbox does not answer', 'is it running? mail4agent start'] as const

export const mail = <N extends OperationName>(name: N, request: RequestOf<N>): Promise<AnswerOf<N>> =>
  post(`/mail/${name}`, request)

export const admin = <R extends AdminRoute>(route: R, request: AdminRequest<R>): Promise<AdminAnswer<R>> =>
  post(`/admin/${route}`, request)

/** Anything else; `key` null for what needs no login. */
export async function post<A>(path: string, request: object, key = login.value?.key ?? null): Promise<A> {
  const response = await reach(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(request),
  })
  if (!response.ok) throw await refusedOf(response)
  return await response.json()
}

/** @throws Refused when nothing answers */
export async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...init, cache: 'no-store', credentials: 'omit', redirect: 'error' })
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new Refused(...UNREACHABLE, null)
  }
}

/** Where the login is over, the page goes back to its beginning. */
export async function refusedOf(response: Response): Promise<Refused> {
  const { kind, message, hint, field } = await response.json().catch(() => ({}))
  if (response.status === 401 && login.value !== null) endLogin(String(message ?? ''))
  return new Refused(kind ?? 'unknown', message ?? `status ${response.status}`, hint ?? '', field ?? null)
}
