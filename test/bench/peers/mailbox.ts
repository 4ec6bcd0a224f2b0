// The compiled mailbox on a data folder of its own, with accounts whose secrets the benchmark chose.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { body, HTTP, post } from '../http.ts'
import { end, spawn } from '../proc.ts'
import { asker } from '../wire.ts'

export const BINARY = join(
  import.meta.dir,
  '..',
  '..',
  '..',
  'dist',
  process.platform === 'win32' ? 'mail4agent.exe' : 'mail4agent',
)

export type Mailbox = {
  pid: number
  port: number
  readonly dataDir: string
  /** The secret of an account; every account has the one that its name gives. */
  token(account: string): string
  /** Makes accounts that are not there yet. */
  accounts(names: readonly string[]): Promise<void>
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Starts it again on the same folder. */
  start(): Promise<void>
}

const token = (account: string): string => `bench-secret-of-${account}`

/** Starts it in `folder`, which is made. Throws where the binary is missing, or does not listen within 20 s. */
export async function openMailbox(folder: string): Promise<Mailbox> {
  if (!existsSync(BINARY)) throw new Error('dist/mail4agent is missing: npm run build')
  mkdirSync(folder, { recursive: true })
  const dataDir = join(folder, 'data')
  let child: ReturnType<typeof spawn> | null = null
  const mailbox: Mailbox = {
    pid: 0,
    port: 0,
    dataDir,
    token,
    async start() {
      child = launch(folder, dataDir)
      mailbox.pid = child.pid
      mailbox.port = await printedPort(child.stdout, join(folder, 'stderr.log'))
    },
    async stop(signal = 'SIGTERM') {
      if (child) await end(child, signal)
    },
    async accounts(names) {
      const operator = readFileSync(join(dataDir, 'operator.key'), 'utf8').trim()
      const line = await asker(mailbox.port, HTTP)
      for (const id of names) {
        const digest = createHash('sha256').update(token(id)).digest('hex')
        body(await line.ask(post('/admin/participant', operator, { id, digest })))
      }
      line.close()
    },
  }
  await mailbox.start()
  return mailbox
}

/** The program, as somebody starts it; it takes whoever runs the benchmark for no agent. */
const launch = (folder: string, dataDir: string): ReturnType<typeof spawn> =>
  spawn(
    [BINARY, 'serve', '--data-dir', dataDir, '--port', '0'],
    { HOME: folder, M4A_RECOGNISED_AGENTS: '' },
    join(folder, 'stderr.log'),
  )

/** The port of the first loopback address that it prints. */
async function printedPort(stdout: ReadableStream<Uint8Array>, log: string): Promise<number> {
  let seen = ''
  const reader = stdout.getReader()
  const decoder = new TextDecoder()
  for (const end = performance.now() + 20_000; performance.now() < end; ) {
    const { done, value } = await reader.read()
    if (done) break
    seen += decoder.decode(value, { stream: true })
    const port = /http:\/\/127\.0\.0\.1:([0-9]+)/.exec(seen)?.[1]
    if (port === undefined) continue
    reader.releaseLock()
    return Number(port)
  }
  throw new Error(`the mailbox does not listen: ${seen}${readFileSync(log, 'utf8')}`)
}
