// The secrets of this machine's accounts: one file each in the data folder, readable by its owner only.
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { privateFolder } from '../door/folders.ts'
import { canonical, isName } from '../wire/ids.ts'
import { Refusal } from '../wire/refusal.ts'

/** The account of the first start; its secret lies beside the folder of the others. */
export const OPERATOR = 'operator'

const folder = (dataDir: string): string => join(dataDir, 'tokens')

/** `.` and `..` are names of accounts, and of folders: a dot in front is written `%2e`. */
const fileOf = (name: string): string => (name.startsWith('.') ? `%2e${name.slice(1)}` : name)
const nameOf = (file: string): string => (file.startsWith('%2e') ? `.${file.slice(3)}` : file)

const tokenPath = (dataDir: string, name: string): string => join(folder(dataDir), fileOf(name))

/** The accounts whose secrets are here, the operator of the first start last. */
export function tokenNames(dataDir: string): string[] {
  const names = listed(folder(dataDir)).map(nameOf).filter(isName).sort()
  if (listed(dataDir).includes('operator.key') && !names.some((name) => canonical(name) === OPERATOR))
    names.push(OPERATOR)
  return names
}

function listed(path: string): string[] {
  try {
    return readdirSync(path).filter((name) => !name.startsWith('.'))
  } catch {
    return []
  }
}

/**
 * The secret of an account whose file is here, or null.
 * @throws Refusal `bad_permissions`
 */
export const storedToken = (dataDir: string, name: string): string | null =>
  storedTokenFile(dataDir, name)?.token ?? null

/** As `storedToken`, with the file that it lies in. */
export function storedTokenFile(dataDir: string, name: string): { token: string; path: string } | null {
  const file = listed(folder(dataDir)).find((file) => canonical(nameOf(file)) === canonical(name))
  if (file === undefined && canonical(name) !== OPERATOR) return null
  const path = file === undefined ? join(dataDir, 'operator.key') : join(folder(dataDir), file)
  const token = readToken(path)
  return token === null ? null : { token, path }
}

/**
 * The secret in a file, or null where there is none.
 * @throws Refusal `bad_permissions` when others may read it, or it is not ours
 */
export function readToken(path: string): string | null {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw new Refusal('bad_permissions', `${path} cannot be read`, { path })
  }
  try {
    const found = fstatSync(fd)
    if (!found.isFile()) throw new Refusal('bad_permissions', `${path} is no file`, { path })
    // Windows keeps a user's files from others by where they are; its modes say nothing.
    if (process.platform !== 'win32') {
      if (found.uid !== process.geteuid?.())
        throw new Refusal('bad_permissions', `${path} belongs to another user`, { path })
      if ((found.mode & 0o077) !== 0) {
        const hint = `make it readable by its owner only: chmod 600 ${path}`
        throw new Refusal(
          'bad_permissions',
          `others may read ${path}`,
          { path, mode: (found.mode & 0o777).toString(8) },
          hint,
        )
      }
    }
    const secret = found.size <= 4096 ? readFileSync(fd, 'utf8').trim() : ''
    if (!/^[\x21-\x7e]+$/.test(secret))
      throw new Refusal('bad_permissions', `${path} holds no token`, { path }, 'put the token alone into it')
    return secret
  } finally {
    closeSync(fd)
  }
}

/** A secret on its way into place: under no account's name until the mailbox has taken its digest. */
export type PendingToken = { path: string; keep(): void; drop(): void }

/**
 * Writes the secret before anybody depends on it, so that none is lost when we are stopped in between.
 * @throws Refusal `bad_permissions`: the folder is open to others
 */
export function prepareToken(dataDir: string, name: string, secret: string): PendingToken {
  privateFolder(folder(dataDir))
  const path = tokenPath(dataDir, name)
  const pending = join(folder(dataDir), `.${crypto.randomUUID()}`)
  writeFileSync(pending, `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true })
  return {
    path,
    keep() {
      renameSync(pending, path)
      for (const other of spellings(dataDir, name)) if (other !== path) rmSync(other)
    },
    drop: () => rmSync(pending, { force: true }),
  }
}

/** Removes what is here of an account that is no more. */
export function forgetToken(dataDir: string, name: string): void {
  for (const path of spellings(dataDir, name)) rmSync(path)
}

const spellings = (dataDir: string, name: string): string[] =>
  listed(folder(dataDir))
    .filter((file) => canonical(nameOf(file)) === canonical(name))
    .map((file) => join(folder(dataDir), file))
    // with a newer secret, or without its account, the key of the first start is nobody's
    .concat(
      canonical(name) === OPERATOR && listed(dataDir).includes('operator.key') ? [join(dataDir, 'operator.key')] : [],
    )
