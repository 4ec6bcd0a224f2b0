// Where nothing opens the page, that is said at once, with the link; a browser is given time.
import { expect, test } from 'bun:test'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Context } from '../../../src/cli/context.ts'
import { openInBrowser } from '../../../src/cli/open-page.ts'
import { tempFolder } from '../../support/temp.ts'
import { io } from './shell.ts'

test.each([
  ['an opener that finds no browser', 'exit 3', 'xdg-open ended with 3'],
  ['no opener at all', null, 'xdg-open'],
])('%s', async (_, script, reason) => {
  using folder = tempFolder()
  if (script !== null) {
    writeFileSync(join(folder.path, 'xdg-open'), `#!/bin/sh\n${script}\n`)
    chmodSync(join(folder.path, 'xdg-open'), 0o755)
  }
  const globals = { 'data-dir': folder.path, port: undefined, socket: undefined, as: undefined }
  const options = { ...globals, json: false, help: false, 'no-color': false }
  const context = new Context<Record<never, never>>(options, [], io({ env: { PATH: folder.path } }, [], []))
  const began = performance.now()
  const refused = await openInBrowser(context, 'http://127.0.0.1:1/ui#x').then(
    () => null,
    (error) => error,
  )
  expect(performance.now() - began).toBeLessThan(5_000)
  expect(refused).toMatchObject({ kind: 'usage', hint: expect.stringContaining('http://127.0.0.1:1/ui#x') })
  expect(refused.message).toContain(reason)
  expect(existsSync(join(folder.path, 'ui-login.html'))).toBe(false)
})
