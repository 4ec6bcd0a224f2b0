// Is a process Visual Studio Code? Its MCP client names the chat on each call. It is no agent: its terminals are its person's.
import type { Process } from '../attest/attestor.ts'
import { programName, scriptOf, slashed } from './executable.ts'

/** The program of each distribution, and on macOS the helpers that run its extension hosts. */
const PROGRAM =
  /^(?:code|code(?:-| - )insiders|code(?:-| - )oss|codium(?:-insiders)?|vscodium)(?: helper(?: \([a-z]+\))?)?$/
/** On the far side of a remote window its own node runs the extension hosts: `~/.vscode-server/cli/servers/…/server/node`. */
const SERVER = /\/\.vscode-(?:server|remote)(?:-insiders)?\/.*\/out\/(?:bootstrap-fork|server-main)(?:\.js)?$/

/** By the file that the kernel runs, or the script behind its interpreter; never by what it calls itself. */
export function isVsCode(process: Process): boolean {
  if (process.exe === null) return false
  if (PROGRAM.test(programName(process.exe))) return true
  return SERVER.test(slashed(scriptOf(process) ?? ''))
}
