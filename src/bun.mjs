// Runs the pinned Bun from node_modules, also where npm did not run its install script. Plain Node, no dependency.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const modules = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules')
const exe = process.platform === 'win32' ? 'bun.exe' : 'bun'

/** The wrapper's binary first; it is a text placeholder when install scripts were off, then the platform package serves. */
function candidates() {
  const packages = join(modules, '@oven')
  const own = existsSync(packages) ? readdirSync(packages).map((name) => join(packages, name, 'bin', exe)) : []
  return [join(modules, 'bun', 'bin', 'bun.exe'), ...own]
}

const bun = candidates().find((path) => existsSync(path) && spawnSync(path, ['--version']).status === 0)
if (!bun) {
  console.error('bun is not installed: run npm install first')
  process.exit(3)
}
const run = spawnSync(bun, process.argv.slice(2), { stdio: 'inherit' })
if (run.signal) process.kill(process.pid, run.signal)
process.exit(run.status ?? 1)
