// Pinned packages from npm in a cache of their own: they are large, and no dependencies of the project.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const NAME = '@modelcontextprotocol/inspector'
const VERSION = '2.12.0'
const LAUNCHER = join('node_modules', NAME, 'clients', 'launcher', 'build', 'index.js')

/** The inspector's script, to be run with Bun: it wants a newer Node than we ask of users. Throws when it cannot be had. */
export const inspectorScript = async (): Promise<string> => join(await packageFolder(NAME, VERSION), LAUNCHER)

/** A folder whose `node_modules` holds that package. */
export async function packageFolder(name: string, version: string): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'mail4agent-test-interop')
  const label = `${name.replace(/^.*\//, '')}-${version}`
  const folder = join(cache, label)
  if (existsSync(join(folder, 'node_modules', name, 'package.json'))) return folder

  // Built aside and moved in one step: an install that was cut off is never taken for a finished one.
  const aside = join(cache, `.${label}-${process.pid}`)
  rmSync(aside, { recursive: true, force: true })
  mkdirSync(aside, { recursive: true })
  writeFileSync(join(aside, 'package.json'), '{"private":true}\n')
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--save-exact']
  const npm = Bun.spawn(['npm', 'install', ...options, `${name}@${version}`], {
    cwd: aside,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const complaint = await new Response(npm.stderr).text()
  if ((await npm.exited) !== 0) throw new Error(`npm install ${name} failed: ${complaint}`)
  rmSync(folder, { recursive: true, force: true })
  renameSync(aside, folder)
  return folder
}
