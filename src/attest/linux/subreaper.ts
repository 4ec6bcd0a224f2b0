// Makes this process the parent of whatever its descendants leave behind: PR_SET_CHILD_SUBREAPER, prctl(2).
import { libc, memory } from './libc.ts'

const PRCTL = process.arch === 'x64' ? 157 : 167
const PR_SET_CHILD_SUBREAPER = 36

/** False where the kernel refuses: then they go to another reaper, and are found by their environment. */
export function becomeSubreaper(): boolean {
  // any argument but 0 switches it on
  return Number(libc().syscall(PRCTL, PR_SET_CHILD_SUBREAPER, memory(8).at, 0)) === 0
}
