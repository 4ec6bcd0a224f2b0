// What the mailbox is measured beside: the bare door, a static page, the disk itself, Redis. Each a child with a port.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createStream } from '../nats.ts'
import { end, freePort, installed, listening, spawn } from '../proc.ts'

const SDK = join(import.meta.dir, '..', '..', '..', 'node_modules', '@modelcontextprotocol', 'sdk')

export type Peer = { pid: number; port: number; stop(): Promise<void> }

const peer = (child: ReturnType<typeof spawn>, port: number): Peer => ({ pid: child.pid, port, stop: () => end(child) })

async function printing(command: string[]): Promise<Peer> {
  const child = spawn(command)
  const reader = child.stdout.getReader()
  const { value } = await reader.read()
  reader.releaseLock()
  const port = Number(new TextDecoder().decode(value))
  if (!(port > 0)) throw new Error(`${command[0]} did not print its port`)
  return peer(child, port)
}

const script = (name: string, ...rest: string[]): Promise<Peer> =>
  printing([process.execPath, join(import.meta.dir, name), ...rest])

export const bareDoor = (): Promise<Peer> => script('bare-door.ts')
/** The bare door that asks who calls. */
export const attestedDoor = (): Promise<Peer> => script('bare-door.ts', 'attested')
/** `page`: a file with the JSON that it answers. */
export const staticPage = (page: string): Promise<Peer> => script('static-page.ts', page)

/** The C program that syncs a log once per round of requests; null without gcc. */
export async function diskLimit(folder: string): Promise<Peer | null> {
  if (!installed('gcc')) return null
  const program = join(folder, 'limit')
  const built = Bun.spawnSync(['gcc', '-O2', '-Wall', '-Werror', '-o', program, join(import.meta.dir, 'limit.c')])
  if (built.exitCode !== 0) throw new Error(`gcc: ${built.stderr.toString()}`)
  return printing([program, join(folder, 'limit.log')])
}

/** 2,000 processes with 25,000 descriptors, which the search of all holders looks through; null without gcc. */
export async function crowd(folder: string): Promise<{ stop(): Promise<void> } | null> {
  if (!installed('gcc')) return null
  const program = join(folder, 'crowd')
  const built = Bun.spawnSync(['gcc', '-O2', '-Wall', '-Werror', '-o', program, join(import.meta.dir, 'crowd.c')])
  if (built.exitCode !== 0) throw new Error(`gcc: ${built.stderr.toString()}`)
  const child = spawn([program, '2000', '25000'])
  const reader = child.stdout.getReader()
  const { value } = await reader.read()
  reader.releaseLock()
  if (!new TextDecoder().decode(value).startsWith('ready')) throw new Error('the crowd did not come together')
  return { stop: () => end(child) }
}

/** A program that floods a port, once it is told to go. */
export type Flood = { go(): void; halt(): void; stop(): Promise<void> }

/** `connections` that ask `request` again as soon as they are answered; halted, until it is told to go. */
export async function flood(port: number, connections: number, request: Buffer): Promise<Flood> {
  const child = spawn([
    process.execPath,
    join(import.meta.dir, 'flood.ts'),
    String(port),
    String(connections),
    request.toString('base64'),
  ])
  const reader = child.stdout.getReader()
  await reader.read()
  reader.releaseLock()
  child.kill('SIGSTOP')
  return { go: () => child.kill('SIGCONT'), halt: () => child.kill('SIGSTOP'), stop: () => end(child, 'SIGKILL') }
}

/** What one request costs a process that was never seen, in microseconds: a new process each time. */
export async function strangerCall(port: number, request: Buffer): Promise<number> {
  const caller = join(import.meta.dir, 'caller.ts')
  const child = spawn([process.execPath, caller, String(port), request.toString('base64')])
  const took = Number(await new Response(child.stdout).text())
  if ((await child.exited) !== 0 || !(took > 0)) throw new Error('a stranger was refused')
  return took
}

/** Redis that syncs before it replies; null where it is not installed. */
export async function redisAlways(folder: string): Promise<Peer | null> {
  if (!installed('redis-server')) return null
  const dir = join(folder, 'redis')
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir)
  const port = freePort()
  const keep = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--dir', dir]
  const child = spawn(['redis-server', '--port', String(port), '--bind', '127.0.0.1', '--maxclients', '8000', ...keep])
  await listening(port)
  return peer(child, port)
}

/** NATS with JetStream on disk, which syncs every two minutes and not before it replies; null where it is not installed. */
export async function natsUnsynced(folder: string): Promise<Peer | null> {
  const program = installed('nats-server') ? 'nats-server' : '/usr/sbin/nats-server'
  if (!existsSync(program) && !installed(program)) return null
  const port = freePort()
  const config = join(folder, 'nats.conf')
  writeFileSync(config, `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${join(folder, 'nats')}" }\n`)
  const child = spawn([program, '-c', config], {}, join(folder, 'nats.log'))
  await listening(port)
  await createStream(port)
  return peer(child, port)
}

export type PeersBroker = Peer & { ids: string[] }

/** The broker of claude-peers from a checkout at `path`, with `count` clients of processes that live; null without a path. */
export async function claudePeers(folder: string, path: string | null, count: number): Promise<PeersBroker | null> {
  if (path === null) return null
  const port = freePort()
  const env = { CLAUDE_PEERS_PORT: String(port), CLAUDE_PEERS_DB: join(folder, 'peers.db'), HOME: folder }
  const child = spawn([process.execPath, join(path, 'broker.ts')], env, join(folder, 'peers.log'))
  await listening(port)
  const ids: string[] = []
  const sleepers = Array.from({ length: count }, () => spawn(['sleep', '100000']))
  for (const { pid } of sleepers) {
    const answer = await fetch(`http://127.0.0.1:${port}/register`, {
      method: 'POST',
      body: JSON.stringify({ pid, cwd: '/', git_root: null, tty: null, summary: '' }),
    })
    const { id } = (await answer.json()) as { id: string }
    ids.push(id)
  }
  const stop = async () => {
    await Promise.all([end(child), ...sleepers.map((sleeper) => end(sleeper))])
  }
  return { pid: child.pid, port, ids, stop }
}

/** Bun.serve with the same schema and no framework. */
export const plainDoor = (): Promise<Peer> => script('plain-door.ts')
/** The official MCP SDK with one session and one tool; null where it is not installed. */
export const sdkServer = (): Promise<Peer | null> => (existsSync(SDK) ? script('sdk-server.ts') : Promise.resolve(null))
