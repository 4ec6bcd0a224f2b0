// Opens the page's login link in the person's browser, without the secret in anybody's argument list.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { writePrivate } from '../door/folders.ts'
import { Refusal } from '../wire/refusal.ts'
import type { Context } from './context.ts'

/** Milliseconds that a browser may take to start and to read the file. */
const READ_MS = 10_000

/**
 * Arguments can be read by others, proc(5): the browser is given a file that only its owner may read, which leads on to `url`
 * and is gone seconds later.
 * @throws Refusal `usage` where no program opens files for people
 */
export async function openInBrowser({ io, place }: Context, url: string): Promise<void> {
  const path = join(place.dataDir, 'ui-login.html')
  writePrivate(path, `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${url}">\n`)
  const stop = io.stopSignal()
  try {
    const opener = Bun.spawn([...openerOf(io.platform), pathToFileURL(path).href], {
      env: io.env,
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    })
    opener.unref()
    const left = Promise.withResolvers<void>()
    stop.addEventListener('abort', () => left.resolve(), { once: true })
    // one that has opened it may have ended long before the browser has read it
    const read = Promise.race([Bun.sleep(READ_MS), left.promise]).then(() => 0)
    const code = await Promise.race([read, opener.exited.then((code) => (code === 0 ? read : code))])
    if (code !== 0) throw new Error(`${openerOf(io.platform)[0]} ended with ${code}`)
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown'
    const message = `nothing opened the page: no program of this machine opens the browser (${reason})`
    throw new Refusal('usage', message, {}, `open it yourself within a minute: ${url}`)
  } finally {
    rmSync(path, { force: true })
  }
}

function openerOf(platform: NodeJS.Platform): string[] {
  if (platform === 'darwin') return ['open']
  return platform === 'win32' ? ['rundll32', 'url.dll,FileProtocolHandler'] : ['xdg-open']
}
