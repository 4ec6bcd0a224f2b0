// The compiled mailbox with a data folder of its own, and what a test needs of its operator.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dig, type Json, text } from '../support/json.ts'

const BINARY = join(import.meta.dir, '..', '..', 'dist', 'mail4agent')

export type Mailbox = {
  /** `http://127.0.0.1:PORT` */
  url: string
  /** The compiled binary, absolute. */
  binary: string
  dataDir: string
  /** Makes an account and gives its token, which is also kept in files for `command` and `headerFile`. */
  account(id: string, more?: { [key: string]: Json }): Promise<string>
  /** Posts as the operator, from outside of any agent. */
  operator(path: string, body: Json): Promise<Json>
  tokenFile(account: string): string
  /** A file with the Authorization header of `account`, for `curl -H @file`. */
  headerFile(account: string): string
  /** The start of a shell command that runs our binary with the token of `account`. */
  command(account: string): string
  stop(): Promise<void>
}

/** The name under which the operator's token is kept beside those of the accounts. */
export const OPERATOR = 'operator'

/** Starts `dist/mail4agent serve` on a free port, with more in its environment where that is given. Throws when it is not built or does not come up within 10 s. */
export async function startMailbox(environment: Record<string, string> = {}): Promise<Mailbox> {
  if (!existsSync(BINARY)) throw new Error(`${BINARY} is missing: npm run build`)
  const root = mkdtempSync(join(tmpdir(), 'm4a-mailbox-'))
  const dataDir = join(root, 'data')
  const child = Bun.spawn([BINARY, 'serve', '--data-dir', dataDir, '--port', '0'], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', HOME: root, ...environment },
    stdin: 'ignore',
    stdout: Bun.file(join(root, 'stdout.log')),
    stderr: Bun.file(join(root, 'stderr.log')),
  })
  const url = await comesUp(dataDir).catch((error) => {
    child.kill()
    const log = readFileSync(join(root, 'stderr.log'), 'utf8')
    rmSync(root, { recursive: true, force: true })
    throw new Error(`${error}: ${log}`)
  })
  const tokenFile = (account: string) => join(root, `${account}.token`)
  const headerFile = (account: string) => join(root, `${account}.header`)
  const keep = (account: string, token: string) => {
    writeFileSync(tokenFile(account), token, { mode: 0o600 })
    writeFileSync(headerFile(account), `Authorization: Bearer ${token}\n`, { mode: 0o600 })
    return token
  }
  keep(OPERATOR, readFileSync(join(dataDir, 'operator.key'), 'utf8').trim())
  return {
    url,
    binary: BINARY,
    dataDir,
    tokenFile,
    headerFile,
    command: (account) => `env M4A_DATA_DIR=${dataDir} M4A_TOKEN_FILE=${tokenFile(account)} ${BINARY}`,
    operator: (path, body) => detached(`${url}${path}`, headerFile(OPERATOR), body),
    async account(id, more = {}) {
      const answer = await detached(`${url}/admin/participant`, headerFile(OPERATOR), { id, ...more })
      const secret = text(answer, 'secret')
      if (!secret) throw new Error(`no account ${id}: ${JSON.stringify(answer)}`)
      return keep(id, secret)
    },
    async stop() {
      child.kill()
      await child.exited
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/**
 * Posts as the operator from a process without our ancestors: an agent may be running these tests, and the mailbox refuses
 * the operator's token to whatever runs below an agent.
 */
async function detached(url: string, headerFile: string, body: Json): Promise<Json> {
  const file = `${headerFile}.answer`
  const post = `curl -sS -H @${headerFile} -H 'content-type: application/json' -d "$BODY" -o ${file}.part ${url}`
  // The first shell ends at once; the second waits until it has been reaped, so that its parent is another.
  const script = `p=$$; (while kill -0 $p 2>/dev/null; do sleep 0.02; done; ${post} && mv ${file}.part ${file}) &`
  rmSync(file, { force: true })
  const env = { PATH: process.env.PATH ?? '', BODY: JSON.stringify(body) }
  await Bun.spawn(['sh', '-c', script], { env, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).exited
  for (const deadline = performance.now() + 10_000; !existsSync(file); await Bun.sleep(20)) {
    if (performance.now() > deadline) throw new Error(`no answer of ${url} within 10 s`)
  }
  const answer: Json = JSON.parse(readFileSync(file, 'utf8'))
  return answer
}

/** The address of the daemon on `dataDir`, once it answers. */
async function comesUp(dataDir: string): Promise<string> {
  const file = join(dataDir, 'daemon.json')
  for (const deadline = performance.now() + 10_000; performance.now() < deadline; await Bun.sleep(50)) {
    if (!existsSync(file)) continue
    const json: Json = JSON.parse(readFileSync(file, 'utf8'))
    const url = `http://127.0.0.1:${dig(json, 'port')}`
    if (
      await fetch(`${url}/health`).then(
        (answer) => answer.ok,
        () => false,
      )
    )
      return url
  }
  throw new Error('the mailbox did not come up within 10 s')
}
