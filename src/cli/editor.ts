// A text written in the person's own editor: the file is private, is read byte for byte, and stays until what it says was sent.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readBody } from './body.ts'
import type { Context } from './context.ts'
import type { Io } from './io.ts'
import { usage } from './usage.ts'

/**
 * Opens VISUAL or EDITOR on a file that begins with `draft`, and hands what was saved to `send`. Where that fails, the file
 * stays, and a line says where it is; also where `send` resolves to null, as the person would not send it after all.
 * @throws Refusal `usage` when the editor fails or nothing was written
 */
export async function withEditor(
  context: Context,
  draft: string,
  send: (body: string) => Promise<number | null>,
): Promise<number> {
  const { io } = context
  const path = privateFile(draft)
  const discard = () => rmSync(dirname(path), { recursive: true, force: true })
  runEditor(io, path, discard)
  if (readFileSync(path, 'utf8') === draft || readFileSync(path).length === 0) {
    discard()
    throw usage('nothing was written, so nothing is sent')
  }
  try {
    const code = await send(await readBody(undefined, path, io))
    if (code === null) context.say(`what you wrote is kept in ${path}`)
    else discard()
    return code ?? GAVE_UP
  } catch (error) {
    context.say(`what you wrote is kept in ${path}`)
    throw error
  }
}

/** Nothing was sent: not the success that a script would take it for. */
export const GAVE_UP = 1

/** As `withEditor`, for a text that was written here. */
export async function keeping(
  context: Context,
  body: string,
  send: (body: string) => Promise<number | null>,
): Promise<number> {
  const keep = () => {
    const path = privateFile(body)
    context.say(`what you wrote is kept in ${path}`)
  }
  try {
    const code = await send(body)
    if (code === null) keep()
    return code ?? GAVE_UP
  } catch (error) {
    keep()
    throw error
  }
}

function privateFile(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'mail4agent-')), 'letter.md')
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

/** The variable may hold options, as in `code -w`: a shell reads it, as with git and crontab (environ(7), EDITOR). */
function runEditor(io: Io, path: string, discard: () => void): void {
  const editor = io.env.VISUAL || io.env.EDITOR || (io.platform === 'win32' ? 'notepad' : 'vi')
  const argv =
    io.platform === 'win32'
      ? ['cmd', '/d', '/c', `${editor} "${path}"`]
      : ['/bin/sh', '-c', `${editor} "$1"`, 'sh', path]
  const { exitCode } = Bun.spawnSync(argv, { stdio: ['inherit', 'inherit', 'inherit'], env: io.env, cwd: io.cwd })
  if (exitCode === 0) return
  discard()
  throw usage(`the editor ${JSON.stringify(editor)} ended with ${exitCode}`, 'set EDITOR to one that works')
}
