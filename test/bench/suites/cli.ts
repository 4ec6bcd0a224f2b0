// One call of the command line beside curl with the same request, each a process of its own, in turn.
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { BINARY, openMailbox } from '../peers/mailbox.ts'
import { installed } from '../proc.ts'
import { median, ratios } from '../stats.ts'

const CALLS = 15

export async function benchCli(bench: Bench): Promise<void> {
  if (!installed('curl')) return bench.skip('the command line beside curl', 'curl is not installed')
  const mailbox = await openMailbox(join(bench.folder, 'cli'))
  await mailbox.accounts(['caller'])
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: bench.folder,
    M4A_DATA_DIR: mailbox.dataDir,
    M4A_TOKEN: mailbox.token('caller'),
  }
  const url = `http://127.0.0.1:${mailbox.port}/mail/unread`
  const json = ['-H', 'Content-Type: application/json', '-H', `Authorization: Bearer ${mailbox.token('caller')}`]
  const ours = [BINARY, 'unread', '--json']
  const curl = ['curl', '-s', url, ...json, '-d', '{}']
  const once = (command: string[]): number => {
    const start = performance.now()
    const { exitCode, stdout, stderr } = Bun.spawnSync(command, { env })
    const took = performance.now() - start
    if (exitCode !== 0 || !stdout.toString().includes('"unread":0'))
      throw new Error(`${command[0]}: ${exitCode} ${stdout.toString()}${stderr.toString()}`)
    return took
  }
  const figures = { ours: [] as number[], curl: [] as number[] }
  for (let round = 0; round < bench.plan.rounds; round++) {
    const took = { ours: [] as number[], curl: [] as number[] }
    for (let i = 0; i < CALLS; i++)
      for (const name of (i + round) % 2 ? (['ours', 'curl'] as const) : (['curl', 'ours'] as const))
        took[name].push(once(name === 'ours' ? ours : curl))
    figures.ours.push(median(took.ours))
    figures.curl.push(median(took.curl))
  }
  bench.row('cli', 'mail4agent unread', 'ms', figures.ours)
  bench.row('cli', 'curl, the same request', 'ms', figures.curl)
  bench.hold('cliCurl', ratios(figures.ours, figures.curl))
  await mailbox.stop()
}
