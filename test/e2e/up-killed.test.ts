// up, ended by force while the mailbox that it starts is on its way: the next command knows of it, and none is left behind.
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BINARY, CliWorld } from './support/cli-world.ts'

const ENV = { env: { M4A_PORT: '0', USER: 'pat' } }

/** The mailboxes of that data folder. */
const mailboxes = (dataDir: string): number =>
  readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      return words.includes('serve') && words.includes(dataDir)
    } catch {
      return false // it has ended
    }
  }).length

test.each([0, 40, 150, 400])('killed %i ms after it recorded that it starts one', async (ms) => {
  await using world = new CliWorld()
  mkdirSync(join(world.home, '.gemini'))
  const up = ['up', '--yes', '--no-service', '--only', 'gemini']
  const killed = world.spawn([BINARY, ...up], ENV)
  while (!existsSync(join(world.dataDir, 'installed.json')) && killed.exitCode === null) await Bun.sleep(1)
  await Bun.sleep(ms)
  killed.kill('SIGKILL')
  await killed.exited
  if (ms % 100 !== 0) expect((await world.run(up, ENV)).code).toBe(0)
  expect((await world.run(['down', '--yes'], ENV)).code).toBe(0)
  await Bun.sleep(500) // longer than one needs to come up
  expect(mailboxes(world.dataDir)).toBe(0)
  expect(readdirSync(join(world.home, '.gemini'))).toEqual([])
})
