// What proc(5) says about the processes that the tests started.
import { readFileSync, readlinkSync } from 'node:fs'

export const exeOf = (pid: number): string => readlinkSync(`/proc/${pid}/exe`)

export function parentOf(pid: number): number {
  const found = /^PPid:\s+([0-9]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(found?.[1])
}

/** Is `pid` the process that was started as `started`, or the client that a launcher of that pid started? */
export const isClientOf = (pid: number, started: number): boolean => pid === started || parentOf(pid) === started

/** Is `pid` the process that was started as `started`, or one below it? Some launchers start another launcher. */
export const isBelow = (pid: number, started: number): boolean =>
  pid === started || (pid > 1 && isBelow(parentOf(pid), started))

export const commandOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
