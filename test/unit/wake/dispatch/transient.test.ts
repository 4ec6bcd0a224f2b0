// Runs below systemd: a service of their own, whose environment comes by a file that is gone once it was read.
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { filesOf, put, takeEnvironment } from '../../../../src/wake/dispatch/attempt-files.ts'
import { belowSystemd, transientEnvironment, transientWords } from '../../../../src/wake/dispatch/transient.ts'
import { tempFolder } from '../../../support/temp.ts'

test('only where systemd started the mailbox and a manager of the user listens', () => {
  using folder = tempFolder()
  const env = {
    INVOCATION_ID: 'a',
    XDG_RUNTIME_DIR: folder.path,
    PATH: '/bin',
    HOME: '/home/x',
    ANTHROPIC_API_KEY: 'k',
  }
  expect(belowSystemd(env)).toBe(false)
  mkdirSync(join(folder.path, 'systemd', 'private'), { recursive: true })
  expect(belowSystemd(env)).toBe(Bun.which('systemd-run') !== null)
  expect(belowSystemd({ ...env, INVOCATION_ID: undefined })).toBe(false)
  // systemd-run is told where the manager is, and nothing of what the agent gets
  expect(transientEnvironment(env)).toEqual({ PATH: '/bin', HOME: '/home/x', XDG_RUNTIME_DIR: folder.path })
})

test('a service and no scope; its argument list holds the id of the run and no variable of the agent', () => {
  const words = transientWords('abc', '/data/dispatch/1/1')
  expect(words).toContain('--unit=m4a-run-abc')
  expect(words).not.toContain('--scope')
  expect(words.filter((word) => word.startsWith('--setenv'))).toEqual(['--setenv=M4A_RUN=abc'])
})

test('the environment is for its owner alone, whole, and read once', () => {
  using folder = tempFolder()
  const { env } = filesOf(folder.path)
  expect(takeEnvironment(folder.path)).toBeNull()
  const given = { A: 'one\ntwo "three" $four', B: '' }
  put(env, JSON.stringify(given))
  expect(statSync(env).mode & 0o777).toBe(0o600)
  expect(takeEnvironment(folder.path)).toEqual(given)
  expect(existsSync(env)).toBe(false)
  expect(takeEnvironment(folder.path)).toBeNull()
})
