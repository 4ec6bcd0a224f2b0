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
 * stays, and a line says where it is.
 * @throws Refusal `usage` when the editor fails or nothing was written
 */
export async function withEditor(
  context: Context,
  draft: string,
  send: (body: string) => Promise<number>,
): Promise<number> {
  const { io } = context
  const path = join(mkdtempSync(join(tmpdir(), 'mail4agent-')), 'letter.md')
  writeFileSync(path, draft, { mode: 0o600 })
  const discard = () => rmSync(dirname(path), { recursive: true, force: true })
  runEditor(io, path, discard)
  if (readFileSync(path, 'utf8') === draft || readFileSync(path).length === 0) {
    discard()
    throw usage('nothing was written, so nothing is sent')
  }
  try {
    const code = await send(await readBody(undefined, path, io))
    discard()
    return code
  } catch (error) {
    context.say(`what you wrote is kept in ${path}`)
    throw error
  }
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
