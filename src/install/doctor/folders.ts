// The folders that the mailbox lives in: home, data, runtime; whether they are there and can be written.
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import { shellLine } from '../machine.ts'
import type { Checkup } from './checkup.ts'
import { type Found, fail, fine, reasonOf, warn } from './finding.ts'

const XDG = ['XDG_DATA_HOME', 'XDG_CONFIG_HOME', 'XDG_RUNTIME_DIR'] as const

export function folders({ machine, call, dataDir, socket }: Checkup): Found[] {
  const { env, home } = machine
  const found: Found[] = []
  if (!isAbsolute(home) || !existsSync(home))
    found.push(fail(`HOME is ${home || 'empty'}, which is no folder`, `export HOME=<your home folder>`, { home }))
  // XDG Base Directory Specification: a relative path is to be ignored
  for (const name of XDG.filter((name) => env[name] && !isAbsolute(env[name] ?? '')))
    found.push(warn(`${name} is ${env[name]}, which is relative and therefore ignored`, `unset ${name}`, { name }))
  const places = [dataDir, ...(socket === null ? [] : [dirname(socket)])]
  for (const path of new Set(places)) {
    const closed = whyClosed(path)
    if (closed !== null)
      found.push(
        fail(
          `${closed.path} cannot be written: ${closed.reason}`,
          path === dataDir
            ? `make it writable to you, or choose another data folder: ${call} serve --data-dir <folder>`
            : `make it writable to you (loginctl enable-linger makes /run/user), or unset XDG_RUNTIME_DIR`,
          { path, blocked: closed.path },
        ),
      )
    else if (!existsSync(path)) {
      const make = () => {
        mkdirSync(path, { recursive: true, mode: 0o700 })
        return [`made ${path}`]
      }
      const todo = shellLine(['mkdir', '-p', '-m', '700', path], machine.platform)
      found.push(warn(`${path} is not there yet; the mailbox makes it when it starts`, todo, { path }, make))
    }
  }
  return found.length > 0 ? found : [fine(`${dataDir} can be written`, { data: dataDir, socket })]
}

/** The part of `path` that is in the way of writing there, and why; null: nothing is. */
function whyClosed(path: string): { path: string; reason: string } | null {
  let at = path
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at)
  try {
    if (!statSync(at).isDirectory()) return { path: at, reason: 'it is no folder' }
    accessSync(at, constants.W_OK | constants.X_OK)
    return null
  } catch (error) {
    return { path: at, reason: reasonOf(error) }
  }
}
