// kill -9 of a mailbox that is a service, at the steps of a dispatch whose run a manager starts as a service of its own: the
// manager here is a program of a few lines in the place of systemd-run(1), which answers at once and starts a while later.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addAgent, atWork, done, notes, show } from './support/agents.ts'
import { Mailbox } from './support/mailbox.ts'

/** As the manager does: the command's environment is its own, and its parent is not who asked. */
const MANAGER = `#!/bin/sh
unit=
while [ "$1" != -- ]; do
  case "$1" in
    --unit=*) unit="\${1#--unit=}" ;;
    --setenv=*) mark="\${1#--setenv=}" ;;
    --working-directory=*) cd "\${1#--working-directory=}" ;;
  esac
  shift
done
shift
setsid sh -c 'while [ ! -e "$0" ]; do sleep 0.05; done; exec env -i PATH=/usr/bin:/bin "$@"' \\
  "$XDG_RUNTIME_DIR/go" "$mark" "$@" </dev/null >/dev/null 2>&1 &
touch "$XDG_RUNTIME_DIR/asked-$unit"
`

let mailbox: Mailbox
let runtime: string
let cwd: string
let environment: Record<string, string>
beforeAll(async () => {
  mailbox = await Mailbox.start()
  await mailbox.down()
  const bin = join(mailbox.root, 'bin')
  runtime = join(mailbox.root, 'run')
  for (const folder of [bin, join(runtime, 'systemd', 'private')]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(bin, 'systemd-run'), MANAGER, { mode: 0o755 })
  environment = {
    PATH: `${bin}:${process.env.PATH ?? ''}`,
    INVOCATION_ID: '0123456789abcdef0123456789abcdef',
    XDG_RUNTIME_DIR: runtime,
    M4A_SOCKET: mailbox.socket,
    SLOW_MS: '1500',
  }
  go(true)
  await mailbox.up(environment)
  await mailbox.account('served')
  cwd = await addAgent(mailbox, 'served', ['slow'])
})
afterAll(() => mailbox[Symbol.asyncDispose]())

/** Whether the manager starts what it was asked for, now and until told otherwise. */
const go = (does: boolean) => (does ? writeFileSync(join(runtime, 'go'), '') : rmSync(join(runtime, 'go')))
const asked = () => readdirSync(runtime).filter((name) => name.startsWith('asked-')).length

async function dispatch(): Promise<number> {
  const request = { to: 'served', subject: 's', body: 'work', dispatch: 'resume' }
  const { status, body } = await mailbox.post('/mail/send', mailbox.operatorKey, request)
  expect(status).toBe(200)
  return (body.dispatch as { id: number }).id
}

/** Looks without a pause, so that the kill comes within a fraction of a millisecond of the step. */
async function reached(step: () => boolean): Promise<void> {
  for (const end = performance.now() + 20_000; !step(); await new Promise((resolve) => setImmediate(resolve)))
    if (performance.now() > end) throw new Error('the step was not reached')
}

async function killedAt(step: (folder: string) => boolean, then = async (_: number) => {}): Promise<string[]> {
  const id = await dispatch()
  await reached(() => step(join(mailbox.data, 'dispatch', String(id), '1')))
  await mailbox.down('SIGKILL')
  await mailbox.up(environment)
  await then(id)
  const { dispatch: shown, attempts } = await done(mailbox, id)
  expect(shown.outcome).toBe('replied')
  // one run began for each attempt that was one, and for no other
  const began = notes(cwd, 'begin').filter((line) => line.startsWith(`begin ${id} `))
  const runs = attempts.filter(({ pid }) => pid !== null).map(({ run }) => run)
  expect(began.map((line) => line.split(' ')[2] ?? '')).toEqual(runs)
  return attempts.map(({ cause }) => cause ?? '')
}

test("without a kill: the run is the manager's child, not the mailbox's", async () => {
  const id = await dispatch()
  const { attempts } = await done(mailbox, id)
  expect(attempts).toMatchObject([{ cause: 'replied' }])
  expect(existsSync(join(runtime, `asked-m4a-run-${attempts[0]?.run}`))).toBe(true)
}, 60_000)

test('asked of the manager, which has not started it: it never begins, and the dispatch has its next attempt', async () => {
  go(false)
  const before = asked()
  const causes = await killedAt(
    () => asked() > before,
    async (id) => {
      for (let attempts = 0; attempts < 2; await Bun.sleep(20)) attempts = (await show(mailbox, id)).attempts.length
      // both begin now: the first finds that it is not to be
      go(true)
    },
  )
  expect(causes).toEqual(['not_started', 'replied'])
}, 60_000)

test('started by the manager and claimed, and not written down as started: it goes on', async () => {
  const causes = await killedAt((folder) => existsSync(join(folder, 'claim')))
  // it was gone on with; if it was done before the mailbox was back it had nobody to answer, and was begun again
  expect(['replied', 'crashed']).toContain(causes[0] ?? '')
}, 60_000)

test('nobody works twice, and nothing is left', async () => {
  expect(notes(cwd, 'OVERLAP')).toEqual([])
  for (const end = performance.now() + 30_000; atWork(mailbox).length > 0 && performance.now() < end; )
    await Bun.sleep(100)
  expect(atWork(mailbox)).toEqual([])
}, 60_000)
