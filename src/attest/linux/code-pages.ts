// The pages of our own program that are mapped and not in use: handed back, they come again from the page cache when they are touched.
import { readFileSync, readlinkSync } from 'node:fs'
import { libc } from './libc.ts'

/** madvise(2): the pages leave this process; a private mapping that was never written gets them again from its file. */
const MADV_DONTNEED = 4

const HEAD = /^([0-9a-f]+)-([0-9a-f]+) r-xp [0-9a-f]+ \S+ [0-9]+ +(.*)$/

/**
 * Hands back the code that starting needed, which is more than half of what is resident then. proc_pid_smaps(5): only
 * executable mappings of our own file in which no page was ever changed.
 */
export function handBackCode(): void {
  const own = readlinkSync('/proc/self/exe')
  let mapping: { start: number; end: number } | null = null
  for (const line of readFileSync('/proc/self/smaps', 'latin1').split('\n')) {
    const [, start = '', end = '', path] = HEAD.exec(line) ?? []
    if (path !== undefined)
      mapping = path === own ? { start: Number.parseInt(start, 16), end: Number.parseInt(end, 16) } : null
    else if (mapping !== null && line.startsWith('Anonymous:')) {
      if (/^Anonymous: +0 kB$/.test(line)) libc().madvise(mapping.start, mapping.end - mapping.start, MADV_DONTNEED)
      mapping = null
    }
  }
}
