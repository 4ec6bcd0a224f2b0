// A secret for the link: from a file that only its owner can read, from standard input, or typed at a terminal; never an argument.
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { isatty } from 'node:tty'
import { Refusal } from '../../wire/refusal.ts'
import type { Io } from '../io.ts'
import { usage } from '../usage.ts'

/** @throws Refusal `bad_permissions` for a file that others can read, `usage` where there is none */
export async function readSecret(what: string, file: string | undefined, io: Io): Promise<string> {
  const text = file !== undefined ? fromFile(resolve(io.cwd, file), io) : await fromInput(what, io)
  const secret = text.replace(/\r?\n$/, '')
  if (secret === '') throw usage(`the ${what} is empty`)
  return secret
}

function fromFile(path: string, { platform }: Io): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat?.isFile()) throw usage(`the file ${JSON.stringify(path)} cannot be read`)
  if (platform !== 'win32' && (stat.mode & 0o77) !== 0)
    throw new Refusal('bad_permissions', `${path} is open to other users`, { path }, `close it: chmod 600 ${path}`)
  return readFileSync(path, 'utf8')
}

async function fromInput(what: string, io: Io): Promise<string> {
  if (!isatty(0)) return Buffer.from(await io.input()).toString()
  const { password, isCancel } = await import('@clack/prompts')
  const answer = await password({ message: `the ${what}` })
  if (isCancel(answer)) throw usage('nothing was typed')
  return answer
}
