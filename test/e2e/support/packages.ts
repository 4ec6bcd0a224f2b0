// System packages that a test needs: installed where that is possible, else the test fails in CI and is left out elsewhere.
import { existsSync } from 'node:fs'

/** Are all of `paths` there, if need be after an install of `packages`? Throws in CI, where nothing may be left out. */
export function havePackages(paths: readonly string[], packages: readonly string[]): boolean {
  const missing = () => paths.filter((path) => !existsSync(path))
  if (missing().length > 0 && process.getuid?.() === 0 && Bun.which('apt-get')) {
    run(['apt-get', 'update', '-q'])
    const patient = ['-o', 'DPkg::Lock::Timeout=300']
    run(['apt-get', ...patient, 'install', '-q', '-y', '--no-install-recommends', ...packages])
  }
  if (missing().length > 0 && process.env.CI) throw new Error(`missing: ${missing().join(', ')}`)
  return missing().length === 0
}

const run = (command: string[]) =>
  Bun.spawnSync(command, {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdout: 'ignore',
    stderr: 'ignore',
    timeout: 600_000,
  })
