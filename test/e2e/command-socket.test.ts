// The command socket of the compiled mailbox: a process is the session that it, or the process above it, is already; a stranger is nobody.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Mailbox } from './support/mailbox.ts'

setDefaultTimeout(60_000)

let box: Mailbox
afterEach(() => box?.[Symbol.asyncDispose]())

/** A process that may first call with a token, then has a child ask over the command socket. */
const SCRIPT = `
const { connect } = require('node:net')
const { URL: url, TOKEN: token, SOCK: path, LINES: lines, CHILD: child } = process.env
async function main() {
  if (token) {
    const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
    const answer = await fetch(url + '/mail/whoami', { method: 'POST', headers, body: '{}' })
    await answer.text()
  }
  if (child) {
    const { TOKEN, CHILD, ...env } = process.env
    const run = Bun.spawn([process.execPath, '-e', process.env.SCRIPT], { env, stdout: 'inherit' })
    return void (await run.exited)
  }
  const socket = connect({ path, allowHalfOpen: true }, () => socket.end(lines))
  socket.pipe(process.stdout)
}
main()
`

async function ask(asked: object[], { token = '', child = false, socket = join(box.data, 'send.sock') } = {}) {
  const run = Bun.spawn([process.execPath, '-e', SCRIPT], {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: box.root,
      SCRIPT,
      URL: box.url,
      SOCK: socket,
      LINES: asked.map((line) => `${JSON.stringify(line)}\n`).join(''),
      ...(token ? { TOKEN: token } : {}),
      ...(child ? { CHILD: 'yes' } : {}),
    },
    // a session leader without a terminal: nobody above it can be its anchor
    detached: true,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const text = await new Response(run.stdout).text()
  await run.exited
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, any>)
}

test('who has a session sends as it, so does its child; who has none is not_you', async () => {
  box = await Mailbox.start()
  const ann = await box.account('ann')
  const bob = await box.account('bob')
  expect(statSync(join(box.data, 'send.sock')).mode & 0o777).toBe(0o600)
  const line = { as: 'ann', to: 'bob', text: 'hello' }

  // this very process has called as the operator: what runs below it may write as that person, with no rights of an operator
  expect(await ask([line, { as: 'operator', to: '@all', text: 'x' }])).toMatchObject([
    { ok: false, refusal: { kind: 'not_you', you: ['operator'] } },
    { ok: false, refusal: { kind: 'permission_denied', need: 'mail:operator' } },
  ])
  const own = await ask([line, { ...line, as: 'bob' }], { token: ann })
  expect(own).toMatchObject([
    { ok: true, room: 'bob' },
    { ok: false, refusal: { kind: 'not_you', you: ['ann'] } },
  ])
  const below = await ask([line, { cmd: 'rooms.list', as: 'ann' }], { token: ann, child: true })
  expect(below).toMatchObject([{ ok: true }, { ok: false, refusal: { kind: 'permission_denied' } }])

  const { body } = await box.post('/mail/inbox', bob, {})
  const messages = body.messages as Record<string, any>[]
  expect(messages.map(({ message_id }) => message_id)).toEqual([own[0]?.event_id, below[0]?.event_id])
  for (const { from_text } of messages) expect(from_text).toStartWith('ann/s-')
})

test('M4A_SEND_SOCK says where; a stop takes the file away, a kill leaves it, and the next start replaces it', async () => {
  box = new Mailbox()
  const socket = join(box.root, 'elsewhere', 'mail.sock')
  const environment = { M4A_SEND_SOCK: socket }
  await box.up(environment)
  const ann = await box.account('ann')
  const line = { as: 'ann', to: 'ann', text: 'hello' }
  expect(await ask([line], { token: ann, socket })).toMatchObject([{ ok: true }])
  expect(existsSync(join(box.data, 'send.sock'))).toBe(false)
  await box.down('SIGKILL')
  expect(existsSync(socket)).toBe(true)
  await box.up(environment)
  expect(await ask([line], { token: ann, socket })).toMatchObject([{ ok: true }])

  const second = new Mailbox()
  try {
    const failed = await second.up(environment).catch((error: Error) => error.message)
    expect(failed).toContain('another program answers on')
  } finally {
    await second[Symbol.asyncDispose]()
  }
  await box.down()
  expect(existsSync(socket)).toBe(false)
})
