// mail4agent hook, below a process that counts as the agent client: told once as that session; silent and well in every other case.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MailClient } from '../../../src/client/client.ts'
import { type Daemon, startDaemon } from '../../../src/door/daemon.ts'
import { folder, silent } from '../door/support.ts'

// the executable and the account of a client that no test runs below
const CLIENT = 'kimi'
/** Milliseconds for a dozen processes that start from source, beside other work. */
const PROCESSES = 30_000
const MAIN = join(import.meta.dir, '../../../src/main.ts')

let place: ReturnType<typeof folder>
let daemon: Daemon
let agent: string
let operator: MailClient

beforeAll(async () => {
  place = folder()
  const dataDir = join(place.path, 'data')
  daemon = await startDaemon({ dataDir, port: 0, socket: join(dataDir, 'm4a.sock'), recognised: [CLIENT], log: silent })
  agent = join(place.path, CLIENT)
  symlinkSync(process.execPath, agent)
  operator = new MailClient({
    socket: daemon.socketPath ?? undefined,
    token: readFileSync(join(dataDir, 'operator.key'), 'utf8'),
  })
  const { secret } = await operator.admin('participant', { id: CLIENT })
  mkdirSync(join(dataDir, 'tokens'), { mode: 0o700 })
  writeFileSync(join(dataDir, 'tokens', CLIENT), secret ?? '', { mode: 0o600 })
})
afterAll(async () => {
  operator?.close()
  await daemon?.stop()
  place?.[Symbol.dispose]()
})

type Hook = { words: string[]; stdin?: string; dataDir?: string; recognised?: string }

/** Runs the hooks one after another below one agent process; what each printed, and its exit code. */
async function below(hooks: Hook[]): Promise<{ code: number; out: string; err: string }[]> {
  const script = `const ran = []
  for (const { words, stdin, env } of JSON.parse(process.argv[1])) {
    const { exitCode, stdout, stderr } = Bun.spawnSync([${JSON.stringify(process.execPath)}, ${JSON.stringify(MAIN)}, 'hook', ...words], { stdin: Buffer.from(stdin), env })
    ran.push({ code: exitCode, out: stdout.toString(), err: stderr.toString() })
  }
  process.stdout.write(JSON.stringify(ran))`
  const given = hooks.map(({ words, stdin = '', dataDir = join(place.path, 'data'), recognised = CLIENT }) => ({
    words,
    stdin,
    env: { HOME: place.path, M4A_DATA_DIR: dataDir, M4A_RECOGNISED_AGENTS: recognised },
  }))
  // not spawnSync: the mailbox answers in this very process
  const child = Bun.spawn([agent, '-e', script, JSON.stringify(given)], { stdin: 'ignore', stdout: 'pipe' })
  return JSON.parse(await new Response(child.stdout).text())
}

const well = (out = '') => ({ code: 0, out, err: '' })
const event = JSON.stringify({ hook_event_name: 'UserPromptSubmit', prompt: 'x'.repeat(8_000) })

test(
  'without mail nothing is printed; a letter is told once to each agent',
  async () => {
    expect(await below([{ words: [CLIENT], stdin: event }])).toEqual([well()])
    await operator.call('send', { to: CLIENT, subject: 'secret subject', body: 'secret body' })
    const [first, ...others] = await below([
      { words: [CLIENT], stdin: event },
      { words: [CLIENT], stdin: event },
      { words: [CLIENT, 'UserPromptSubmit'] },
    ])
    expect(first).toEqual(
      well(expect.stringMatching(/^mail4agent: you have 1 new letter \(1 from operator \(a person\)\).*\n$/)),
    )
    expect(first?.out).not.toContain('secret')
    expect(others).toEqual([well(), well()])
    expect((await below([{ words: [CLIENT], stdin: event }]))[0]?.out).toContain('1 new letter')
  },
  PROCESSES,
)

test(
  'silent and well: another client, no agent above, no account, no mailbox, odd input, no such client',
  async () => {
    const silentOnes: Hook[] = [
      { words: ['claude'], stdin: event },
      { words: [CLIENT], stdin: event, recognised: '' },
      { words: [CLIENT, '--as', 'nobody'], stdin: event },
      { words: [CLIENT], stdin: event, dataDir: join(place.path, 'elsewhere') },
      { words: [CLIENT], stdin: 'no json' },
      { words: [CLIENT], stdin: '[]' },
      { words: [CLIENT], stdin: '{"hook_event_name":7}' },
      { words: [CLIENT, 'PreCompact'], stdin: event },
      { words: ['nobody', 'Stop'] },
    ]
    expect(await below(silentOnes)).toEqual(silentOnes.map(() => well()))
  },
  PROCESSES,
)
