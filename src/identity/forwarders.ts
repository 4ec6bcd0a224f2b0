// Programs that carry other programs' connections: whoever is behind them cannot be attested.
import type { Process } from '../attest/attestor.ts'
import { Refusal } from '../wire/refusal.ts'
import { inPackage, programName, scriptName, scriptOf } from './executable.ts'

const PROGRAMS = new Set([
  'ssh',
  'sshd',
  'sshd-session',
  'dropbear',
  'socat',
  'docker-proxy',
  'rootlesskit',
  'slirp4netns',
  'pasta',
  'passt',
  'gvproxy',
  'vpnkit',
  'wslrelay',
  'kubectl',
  'chisel',
  'frpc',
  'rinetd',
  'stunnel',
  'stunnel4',
  'mcp-remote',
  'mcp-proxy',
  'supergateway',
])
const PACKAGES = ['mcp-remote', 'mcp-proxy', 'supergateway']

/** The name of the forwarder that a process is; null for any other. */
export function forwarderName(process: Process): string | null {
  if (process.exe !== null && PROGRAMS.has(programName(process.exe))) return programName(process.exe)
  const script = scriptOf(process)
  if (script === null) return null
  const known = PACKAGES.find((name) => inPackage(script, name))
  return known ?? (PROGRAMS.has(scriptName(script)) ? scriptName(script) : null)
}

/** The refusal of a connection that a forwarder made. */
export const forwarded = (name: string, pid: number): Refusal =>
  new Refusal('forwarder', `${name} holds this connection, and whoever is behind it cannot be attested`, {
    forwarder: name,
    pid,
    seen: { pid },
  })
