// One read of /proc/PID/stat, parsed in place: proc_pid_stat(5).
import { cstring, libc, memory, O_CLOEXEC } from './libc.ts'

const name = cstring('stat')
const text = memory(4096)
const decoder = new TextDecoder()

/** The last line read, so that the warm path allocates nothing. Numbers stay below 2^53. */
export const stat = {
  /** the state letter as a character code */
  state: 0,
  ppid: 0,
  sid: 0,
  tty: 0,
  start: 0,
  startCode: 0,
  startStack: 0,
  startBreak: 0,
  argStart: 0,
  envEnd: 0,
  nameStart: 0,
  nameEnd: 0,
}

const ZOMBIE = 90
const DEAD = 88

/** Opens the stat file of an open /proc/PID; negative where the process has ended. */
export function openStat(dir: number): number {
  return libc().openat(dir, name.at, O_CLOEXEC)
}

/** Fills `stat` from an open stat file. False: the process has ended, or is a zombie, which has ended too. */
export function readStat(fd: number): boolean {
  const size = Number(libc().pread(fd, text.at, text.bytes.length, 0))
  return size > 0 && parseStat(text.bytes, size) && stat.state !== ZOMBIE && stat.state !== DEAD
}

/** Fills `stat` from the bytes of a line. The name may hold anything, also `) R 1`: the last `)` ends it. */
export function parseStat(bytes: Uint8Array, size: number): boolean {
  let close = size - 1
  while (close > 0 && bytes[close] !== 41) close--
  const open = bytes.indexOf(40)
  if (open < 0 || close <= open) return false
  stat.nameStart = open + 1
  stat.nameEnd = close
  stat.state = bytes[close + 2] ?? 0
  let field = 4
  let value = 0
  for (let i = close + 4; i < size; i++) {
    const byte = bytes[i] ?? 0
    if (byte >= 48 && byte <= 57) {
      value = value * 10 + byte - 48
      continue
    }
    if (byte !== 32 && byte !== 10) continue // a minus sign: only fields that are not ours have one
    take(field++, value)
    value = 0
  }
  return field > 51
}

function take(field: number, value: number) {
  switch (field) {
    case 4:
      stat.ppid = value
      break
    case 6:
      stat.sid = value
      break
    case 7:
      stat.tty = value
      break
    case 22:
      stat.start = value
      break
    case 26:
      stat.startCode = value
      break
    case 28:
      stat.startStack = value
      break
    case 47:
      stat.startBreak = value
      break
    case 48:
      stat.argStart = value
      break
    case 51:
      stat.envEnd = value
      break
  }
}

/** The name of the process in the line last read. */
export function statName(): string {
  return decoder.decode(text.bytes.subarray(stat.nameStart, stat.nameEnd))
}
