// Where a token may be sent: loopback, or a Unix socket that nobody but its owner can have put there.
import { existsSync, lstatSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Refusal } from '../wire/refusal.ts'

/** Where the mailbox is. A socket wins over a base. */
export type Target = { readonly socket?: string | undefined; readonly base?: string | undefined }

export const DEFAULT_BASE = 'http://127.0.0.1:18301'

const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost'])

/**
 * Host and port of a base URL; `localhost` is 127.0.0.1, whatever a resolver says.
 * @throws Refusal `usage` for what is not plain http on loopback
 */
export function loopback(base: string): { host: string; port: number } {
  const url = URL.parse(base)
  if (url?.protocol !== 'http:' || !LOOPBACK.has(url.hostname) || url.username !== '' || url.password !== '')
    throw new Refusal(
      'usage',
      'the base is not http on loopback',
      {},
      'use http://127.0.0.1 with the port of the mailbox',
    )
  const host = url.hostname === '[::1]' ? '::1' : '127.0.0.1'
  return { host, port: url.port === '' ? 80 : Number(url.port) }
}

/**
 * The socket and its folder must be ours, and the folder closed to others: else another user may listen there.
 * @throws Refusal `daemon_unreachable` when it is not there, `bad_permissions`
 */
export function checkSocket(path: string): void {
  if (process.platform === 'win32') return
  const socket = lstatSync(path, { throwIfNoEntry: false })
  if (!socket) throw new Refusal('daemon_unreachable', 'no mailbox listens there', { socket: path })
  const place = dirname(path)
  const folder = statSync(place)
  const us = process.getuid?.()
  if (socket.isSocket() && socket.uid === us && folder.uid === us && (folder.mode & 0o77) === 0) return
  // closing a folder is good advice only where nothing but the mailbox lives
  const isMailbox = folder.uid === us && (basename(place) === 'mail4agent' || existsSync(join(place, 'mail.sqlite')))
  throw new Refusal(
    'bad_permissions',
    'the socket or its folder is not private to you, so no token is sent there',
    { socket: path },
    isMailbox
      ? `the folder must be yours and closed to others: chmod 700 ${place}`
      : 'name the socket of your own mailbox with --socket or M4A_SOCKET, or leave both away',
  )
}
