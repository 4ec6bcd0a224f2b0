// mail4agent serve: the command that it says comes next works in another terminal, whatever its current folder.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { tempFolder } from '../../support/temp.ts'
import { sh } from './shell.ts'

/** What the `next` line of a mailbox says that stops at once. */
async function next(shell: { program: string; cwd: string; variable?: string }, ...options: string[]): Promise<string> {
  const { variable, program, cwd } = shell
  const env: Record<string, string> = variable === undefined ? {} : { M4A_DATA_DIR: variable }
  const { out } = await sh(['serve', '--port', '0', ...options], {
    program,
    cwd,
    env,
    home: cwd,
    stopSignal: () => AbortSignal.abort(),
  })
  return out.match(/^next, in another terminal: (.*) admin account add claude$/m)?.[1] ?? out
}

test('a relative program and the data folder of our environment are named in full', async () => {
  using folder = tempFolder()
  const { path } = folder
  const data = join(path, 'data')
  expect(await next({ program: 'dist/mail4agent', cwd: path, variable: 'data' })).toBe(
    `${join(path, 'dist/mail4agent')} --data-dir ${data}`,
  )
  expect(await next({ program: 'mail4agent', cwd: path }, '--data-dir', 'data')).toBe(`mail4agent --data-dir ${data}`)
  expect(await next({ program: 'mail4agent', cwd: path }, '--data-dir', 'my data')).toBe(
    `mail4agent --data-dir "${join(path, 'my data')}"`,
  )
})
