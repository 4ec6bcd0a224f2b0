// Where a process is connected to, from the kernel's tables: proc(5), /proc/net/tcp.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const LOOPBACK = /^(?:0100007F|[0-9A-F]{6}7F|0000000000000000FFFF0000[0-9A-F]{6}7F|00000000000000000000000001000000):/
const NOWHERE = /^0+:0000$/

function inodesOf(pid: number): Set<string> {
  const inodes = new Set<string>()
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]
      if (inode) inodes.add(inode)
    } catch {
      // closed while we looked
    }
  }
  return inodes
}

/** Connections of `pid` that leave the loopback interface, and its UDP sockets (name look-ups), as the kernel's lines. */
export function strayConnections(pid: number): string[] {
  const own = inodesOf(pid)
  const lines = (table: string): string[][] =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      // state 06, TIME_WAIT: what the kernel remembers of closed connections may be many lines, and is nobody's
      .filter((line) => !line.includes(' 06 00000000:00000000 '))
      .map((line) => line.trim().split(/\s+/))
      .filter((words) => own.has(words[9] ?? ''))
  const tcp = ['tcp', 'tcp6']
    .flatMap(lines)
    .filter(([, , remote = '']) => !LOOPBACK.test(remote) && !NOWHERE.test(remote))
  return [...tcp, ...['udp', 'udp6'].flatMap(lines)].map((words) => words.slice(1, 4).join(' '))
}
