// Child processes of the benchmark: started and ended by handle; what the kernel says about their time and memory.
import { readFileSync } from 'node:fs'

const children = new Set<Bun.Subprocess>()

/** Starts a child that ends with us at the latest; its talk goes to `log`, or to ours. */
export function spawn(
  command: string[],
  env: Record<string, string> = {},
  log?: string,
): Bun.Subprocess<'ignore', 'pipe', 'inherit' | Bun.BunFile> {
  const child = Bun.spawn(command, {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: log === undefined ? 'inherit' : Bun.file(log),
    env: { PATH: process.env.PATH ?? '', ...env },
  })
  children.add(child)
  void child.exited.then(() => children.delete(child))
  return child
}

export async function end(child: Bun.Subprocess, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
  child.kill(signal)
  await child.exited
}

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

/** User and system time of a process and its threads in milliseconds: proc_pid_stat(5), fields 14 and 15, in 100 Hz ticks. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Resident memory in MB: proc_pid_status(5). */
export function rssMb(pid: number): number {
  return Number(/VmRSS:\s+([0-9]+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024
}

/** A port that was free a moment ago, for peers that cannot choose one themselves. */
export function freePort(): number {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = server
  server.stop(true)
  return port
}

export const installed = (program: string): boolean => Bun.which(program) !== null

/** Resolves once `port` takes connections; throws after `ms`. */
export async function listening(port: number, ms = 10_000): Promise<void> {
  for (const end = performance.now() + ms; ; await Bun.sleep(1)) {
    try {
      const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
      socket.end()
      return
    } catch (error) {
      if (performance.now() > end) throw error
    }
  }
}
