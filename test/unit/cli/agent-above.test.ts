// The agent client above a command, by the names that are recognised.
import { expect, test } from 'bun:test'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { folder } from '../door/support.ts'

const child = `import { agentAbove } from '${import.meta.dir}/../../../src/cli/agent-above.ts'
const io = { env: { M4A_RECOGNISED_AGENTS: process.argv[1] }, platform: process.platform, cwd: '/', home: '/nowhere' }
process.stdout.write(String(await agentAbove(io)))`
const parent = `process.stdout.write(Bun.spawnSync([process.argv[1], '-e', ...process.argv.slice(2)]).stdout)`

test.if(process.platform === 'linux')('is the nearest one, and none where none is recognised', async () => {
  using place = folder()
  const agent = join(place.path, 'some-agent')
  symlinkSync(process.execPath, agent)
  const above = (recognised: string) =>
    Bun.spawnSync([agent, '-e', parent, process.execPath, child, recognised]).stdout.toString()
  expect(above('other,some-agent')).toBe('some-agent')
  expect(above('')).toBe('null')
})
