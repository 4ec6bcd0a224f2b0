// Made-up processes, for the rules that only look at what is known of one.
import type { Process } from '../../../src/attest/attestor.ts'

let pid = 1000

/** A process of user 1000 without a terminal, a shell unless told otherwise. */
export function process(facts: Partial<Process> = {}): Process {
  pid += 1
  return {
    pid,
    start: String(pid * 10),
    startedAtMs: 1_700_000_000_000 + pid,
    pidfd: String(pid * 100),
    boot: 'b0071d00-0000-4000-8000-000000000000',
    pidns: 'pid:[4026531836]',
    uid: 1000,
    ppid: 1,
    sid: 1,
    tty: 0,
    comm: 'bash',
    exe: '/usr/bin/bash',
    argv: ['bash'],
    cwd: '/home/u',
    execMark: '1',
    ...facts,
  }
}

/** A process that was started as `argv`, whose executable is `exe`. */
export const started = (exe: string, ...argv: string[]): Process =>
  process({ exe, argv: [exe, ...argv], comm: exe.slice(exe.lastIndexOf('/') + 1).slice(0, 15) })
