// The keychain of the system by its own tool: Secret Service (secret-tool), macOS Keychain (security), Windows DPAPI (PowerShell).
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivate } from '../../store/private-file.ts'
import { Refusal } from '../../wire/refusal.ts'

/** Values are base64 text. A value goes to the tool by standard input, never as an argument. */
export type Keychain = {
  read(id: string): string | null
  write(id: string, value: string): void
  remove(id: string): void
}

const SERVICE = 'mail4agent vault'
const PATIENCE_MS = 60_000

export function keychainFor(folder: string, platform: NodeJS.Platform = process.platform): Keychain {
  if (platform === 'darwin') return macos
  return platform === 'win32' ? dpapi(folder) : secretService
}

function run(argv: string[], input = ''): { code: number; out: string } {
  const [tool = ''] = argv
  const path = Bun.which(tool)
  if (path === null)
    throw new Refusal('vault_key_missing', `this system has no keychain tool: ${tool} is not installed`)
  const done = Bun.spawnSync([path, ...argv.slice(1)], {
    stdin: Buffer.from(input),
    stdout: 'pipe',
    stderr: 'ignore',
    timeout: PATIENCE_MS,
  })
  return { code: done.exitCode ?? 1, out: done.stdout.toString().trim() }
}

function mustRun(argv: string[], input = ''): string {
  const { code, out } = run(argv, input)
  if (code !== 0) throw new Refusal('vault_key_missing', 'the keychain of this system refused; is it unlocked?')
  return out
}

/** secret-tool(1); a locked collection asks the person. */
const secretService: Keychain = {
  read(id) {
    const { code, out } = run(['secret-tool', 'lookup', 'service', SERVICE, 'id', id])
    return code === 0 && out !== '' ? out : null
  },
  write: (id, value) =>
    void mustRun(['secret-tool', 'store', `--label=${SERVICE}`, 'service', SERVICE, 'id', id], value),
  remove: (id) => void run(['secret-tool', 'clear', 'service', SERVICE, 'id', id]),
}

/** security(1) with `-i` reads its command from standard input, so that the value is in no argument list. */
const macos: Keychain = {
  read(id) {
    const { code, out } = run(['security', 'find-generic-password', '-s', SERVICE, '-a', id, '-w'])
    return code === 0 && out !== '' ? out : null
  },
  write: (id, value) =>
    void mustRun(['security', '-i'], `add-generic-password -U -s "${SERVICE}" -a "${id}" -w "${value}"\n`),
  remove: (id) => void run(['security', 'delete-generic-password', '-s', SERVICE, '-a', id]),
}

/** ProtectedData (System.Security): what only this user on this machine can open lies in a file beside the vault. */
function dpapi(folder: string): Keychain {
  const path = (id: string) => join(folder, `vault-${id}.dpapi`)
  const call = (method: 'Protect' | 'Unprotect', value: string) =>
    mustRun(
      [
        'powershell.exe',
        '-NoProfile',
        '-NonInteractive',
        '-Command',
        `Add-Type -AssemblyName System.Security; [Convert]::ToBase64String([Security.Cryptography.ProtectedData]::${method}([Convert]::FromBase64String([Console]::In.ReadToEnd().Trim()), $null, 'CurrentUser'))`,
      ],
      value,
    )
  return {
    read: (id) => (existsSync(path(id)) ? call('Unprotect', readFileSync(path(id), 'utf8')) : null),
    write: (id, value) => writePrivate(path(id), call('Protect', value)),
    remove: (id) => rmSync(path(id), { force: true }),
  }
}
