// A peer of attest-peer.py that asks a real mailbox who it is, and what the mailbox says to it.
import { join } from 'node:path'

/** The system's own first: one in a home folder cannot be run by another user. */
export const python = Bun.which('python3', { PATH: `/usr/bin:/usr/local/bin:${process.env.PATH}` })

export type Peer = {
  pid: number
  /** Words of attest-peer.py, in order; gives what the last one gave. */
  do(words: string): Promise<string>
  /** The same, and the answer to what was sent. */
  ask(words: string): Promise<Record<string, any>>
  close(): Promise<void>
}

/** `to`: a port of 127.0.0.1, or a Unix socket. `wrap`: what runs the peer, as another user or in another namespace. */
export async function startPeer(to: number | string, token: string, wrap: readonly string[] = []): Promise<Peer> {
  const request = [
    'POST /mail/whoami HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'Content-Length: 2',
    '',
    '{}',
  ].join('\r\n')
  const child = Bun.spawn([...wrap, python ?? '', join(import.meta.dir, 'attest-peer.py'), '127.0.0.1', String(to)], {
    env: { PATH: process.env.PATH ?? '', PEER_REQUEST: request },
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: '/',
  })
  const reader = child.stdout.getReader()
  let text = ''
  async function line(): Promise<string> {
    while (!text.includes('\n')) {
      const { done, value } = await reader.read()
      if (done) throw new Error('the peer has ended')
      text += new TextDecoder().decode(value)
    }
    const first = text.slice(0, text.indexOf('\n'))
    text = text.slice(first.length + 1)
    return first
  }
  const said = async (words: string) => {
    child.stdin.write(`${words}\n`)
    child.stdin.flush()
    return (await line()).slice('done '.length)
  }
  return {
    pid: Number((await line()).split(' ')[1]),
    do: said,
    ask: async (words) => JSON.parse(await said(`${words} answer`)),
    async close() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
