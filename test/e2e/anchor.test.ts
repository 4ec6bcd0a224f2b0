// Whose session a caller acts in: one-shot callers below registered processes and agents, of the same and of another account.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { Caller, fresh } from './support/caller.ts'
import { copyAs, Lines, linkAs, Parent, shellLine } from './support/family.ts'
import { BINARY, Mailbox } from './support/mailbox.ts'
import { type Call, run, words } from './support/script.ts'

setDefaultTimeout(30_000)

let mailbox: Mailbox
/** Shells that pass for Claude: by their executable, and by nothing but the name that they were started under. */
let claude: string
let named: string
let ann: Caller
let bob: Caller
let person: Caller
beforeAll(async () => {
  mailbox = await Mailbox.start({ M4A_RECOGNISED_AGENTS: 'claude,codex' })
  claude = copyAs(mailbox, 'claude', '/bin/sh')
  named = linkAs(mailbox, 'codex', '/bin/bash')
  ann = await Caller.make(mailbox, fresh('ann'))
  bob = await Caller.make(mailbox, fresh('bob'))
  person = await Caller.make(mailbox, fresh('pat'), { kind: 'person' })
})
afterAll(() => mailbox[Symbol.asyncDispose]())

const whoami = (by: Caller, more: Partial<Call> = {}): Call => ({ token: by.token, path: '/mail/whoami', ...more })
const cli = (by: Caller, ...command: string[]) => [
  'env',
  `M4A_DATA_DIR=${mailbox.data}`,
  `M4A_TOKEN=${by.token}`,
  `HOME=${mailbox.root}`,
  BINARY,
  ...command,
]
/** Commands of one shell that passes for an agent; the last `true` keeps the shell from replacing itself. */
async function below(agent: string, ...commands: (readonly string[])[]) {
  const child = Bun.spawn([agent, '-c', `${commands.map(shellLine).join('\n')}\ntrue`], {
    env: { PATH: process.env.PATH ?? '', HOME: mailbox.root },
    detached: true,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const answers = out
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Record<string, any> => {
      const { status, body, ...rest } = JSON.parse(line)
      return body ? { status, ...body } : rest
    })
  return { answers, err, pid: child.pid }
}

describe('below a registered process', () => {
  test('a child, a grandchild through shells, the socket and the command line act as its session', async () => {
    const { parent, reply } = await Parent.start(mailbox, ann.token)
    await using _ = parent
    const own = reply.body.address_text
    expect(reply.body.card.attested.pid).toBe(parent.pid)
    const one = words(mailbox, whoami(ann))
    const ways = [
      one,
      words(mailbox, whoami(ann, { socket: true })),
      ['sh', '-c', `${shellLine(one)}; true`],
      ['sh', '-c', `sh -c '${shellLine(one).replaceAll("'", "'\\''")}; true'; true`],
      ['setsid', '-w', ...one],
      ['nohup', 'env', '-i', ...one],
    ]
    for (const way of ways) {
      parent.spawn(way)
      const { status, body } = await parent.lines.next()
      expect([way, status, body.address_text]).toEqual([way, 200, own])
    }
    parent.spawn(cli(ann, 'whoami', '--json'))
    expect(Object(await parent.lines.next()).address_text).toBe(own)
    const letter = JSON.stringify({ to: bob.id, subject: 's', body: 'b' })
    parent.spawn(words(mailbox, { token: ann.token, path: '/mail/send', body: letter }))
    expect((await parent.lines.next()).body.from_text).toBe(own)
  })

  test('session mail to the parent is in the inbox of its child, and the answer comes back', async () => {
    const { parent, reply } = await Parent.start(mailbox, ann.token)
    await using _ = parent
    const sender = await mailbox.actor(bob.token)
    const { message_id } = await sender.ask('http', 'send', { to: reply.body.address_text, subject: 's', body: 'b' })
    parent.spawn(words(mailbox, { token: ann.token, path: '/mail/inbox', body: '{}' }))
    const { messages } = (await parent.lines.next()).body
    expect(messages.map((one: { message_id: string }) => one.message_id)).toContain(message_id)
    const answer = JSON.stringify({ reply_to: message_id, body: 'yes' })
    parent.spawn(words(mailbox, { token: ann.token, path: '/mail/send', body: answer }))
    const sent = (await parent.lines.next()).body
    expect(sent.results[0].to_text).toBe((await sender.ask('http', 'whoami')).address_text)
    expect(sent.from_text).toBe(reply.body.address_text)
  })

  test('one with another account’s token is its own session, never an outer one', async () => {
    const outer = await Parent.start(mailbox, bob.token)
    await using _ = outer.parent
    const order = JSON.stringify({ token: ann.token, port: mailbox.port })
    const inner = [process.execPath, join(import.meta.dir, 'support', 'parent.ts'), order]
    outer.parent.spawn(['sh', '-c', `${shellLine(inner)} </dev/null; true`])
    const { body } = await outer.parent.lines.next()
    expect([body.account, body.address_text === outer.reply.body.address_text]).toEqual([ann.id, false])
    expect(body.card.attested.pid).not.toBe(outer.parent.pid)
    expect(body.card.attested.spawned_by).toBe(outer.reply.body.address_text)
  })

  test('below an inner session of another account, the outer one of the same account is out of reach', async () => {
    const outer = await Parent.start(mailbox, bob.token)
    await using _ = outer.parent
    // the inner process registers as ann, then starts a caller with bob's token
    const script = `const call = (token) => fetch('http://127.0.0.1:${mailbox.port}/mail/whoami', { method: 'POST', headers: { authorization: 'Bearer ' + token } });
      await call('${ann.token}').then((answer) => answer.json());
      await Bun.spawn(${JSON.stringify(words(mailbox, whoami(bob)))}, { stdout: 'inherit' }).exited`
    outer.parent.spawn([process.execPath, '-e', script])
    const { status, body } = await outer.parent.lines.next()
    expect([status, body.account]).toEqual([200, bob.id])
    expect(body.address_text).not.toBe(outer.reply.body.address_text)
  })

  test('one that has detached itself is no longer below: a session of its own', async () => {
    const { parent, reply } = await Parent.start(mailbox, ann.token)
    await using _ = parent
    const call = words(mailbox, whoami(ann, { when: 'orphaned' }))
    parent.spawn(['sh', '-c', `STARTED_BY=$$ setsid ${shellLine(call)} & sleep 0.3`])
    const { status, body } = await parent.lines.next()
    expect([status, body.account]).toEqual([200, ann.id])
    expect(body.address_text).not.toBe(reply.body.address_text)
    expect(body.card.attested.pid).not.toBe(parent.pid)
  })

  test('two sessions beside each other do not mix', async () => {
    const [first, second] = [await Parent.start(mailbox, ann.token), await Parent.start(mailbox, ann.token)]
    await using _ = first.parent
    await using __ = second.parent
    expect(first.reply.body.address_text).not.toBe(second.reply.body.address_text)
    for (const { parent, reply } of [first, second]) {
      parent.spawn(words(mailbox, whoami(ann)))
      expect((await parent.lines.next()).body.address_text).toBe(reply.body.address_text)
    }
  })

  test('once the anchor has ended, its child is refused anchor_ended for ever', async () => {
    const { parent, reply } = await Parent.start(mailbox, ann.token)
    parent.spawn(words(mailbox, whoami(ann, { when: 'both' })))
    expect((await parent.lines.next()).body.address_text).toBe(reply.body.address_text)
    await parent[Symbol.asyncDispose]()
    const { status, body } = await parent.lines.next()
    expect({ status, ...body }).toMatchObject({
      status: 403,
      kind: 'anchor_ended',
      hint: expect.any(String),
      session: reply.body.address.session,
      seen: { anchor_pid: parent.pid, anchor_start: expect.any(String), pid: expect.any(Number) },
    })
  })
})

describe('below an agent that has never called', () => {
  test('its children register it on the spot, and all of them act as its one session', async () => {
    for (const agent of [claude, named]) {
      const { answers, pid } = await below(
        agent,
        words(mailbox, whoami(ann)),
        ['sh', '-c', `${shellLine(words(mailbox, whoami(ann, { socket: true })))}; true`],
        words(mailbox, {
          token: ann.token,
          path: '/mail/send',
          body: JSON.stringify({ to: bob.id, subject: 's', body: 'b' }),
        }),
      )
      const [first, second, sent] = answers
      expect([first?.status, first?.card.attested.pid]).toEqual([200, pid])
      expect(first?.card.corroborated.provider).toBe(agent === claude ? 'claude' : 'codex')
      expect([second?.address_text, sent?.from_text]).toEqual([first?.address_text, first?.address_text])
    }
  })

  test('two agents are two sessions; an agent within an agent is its own', async () => {
    const call = words(mailbox, whoami(ann))
    const nested = [named, '-c', `${shellLine(call)}; true`]
    const { answers, pid } = await below(claude, call, nested, call)
    const [before, inner, after] = answers
    expect([before?.card.attested.pid, after?.address_text]).toEqual([pid, before?.address_text ?? ''])
    expect(inner?.address_text).not.toBe(before?.address_text)
    expect(inner?.card.attested.spawned_by).toBe(before?.address_text)
    const other = await below(claude, call)
    expect(other.answers[0]?.address_text).not.toBe(before?.address_text)
  })

  test('the command line below it acts as it, with its own token', async () => {
    const child = await below(claude, words(mailbox, whoami(ann)), [
      'sh',
      '-c',
      shellLine(cli(ann, 'whoami', '--json')),
    ])
    expect(child.answers[1]?.address_text).toBe(child.answers[0]?.address_text)
  })

  test('tokens of persons and operators are refused at every door, its own is not', async () => {
    const letter = (by: Caller) => ({
      token: by.token,
      path: '/mail/send',
      body: JSON.stringify({ to: bob.id, subject: 's', body: 'b' }),
    })
    const operator = Caller.operator(mailbox)
    for (const agent of [claude, named]) {
      const { answers } = await below(
        agent,
        ...[operator, person].flatMap((by) => [
          words(mailbox, whoami(by)),
          words(mailbox, whoami(by, { socket: true })),
          words(mailbox, letter(by)),
          words(mailbox, { token: by.token, path: '/admin/participant/list', body: '{}' }),
          words(mailbox, {
            token: by.token,
            path: '/mcp',
            body: '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}',
          }),
          ['sh', '-c', `sh -c ${shellLine([`${shellLine(words(mailbox, letter(by)))}; true`])}; true`],
        ]),
        words(mailbox, whoami(ann)),
      )
      const kinds = answers.map(({ status, kind }) => [status, kind])
      expect(kinds).toEqual([...Array.from({ length: 12 }, () => [403, 'agent_ancestor']), [200, undefined]])
    }
    const { err } = await below(claude, ['sh', '-c', `${shellLine(cli(operator, 'admin', 'account', 'list'))} || true`])
    expect(err).toContain('this token belongs to a person')
    expect((await run(mailbox, whoami(person))).status).toBe(200)
  })

  test('an agent that ends leaves its background children refused', async () => {
    const call = words(mailbox, whoami(ann, { when: 'both' }))
    const child = Bun.spawn([claude, '-c', `${shellLine(call)} & sleep 1`], {
      env: { PATH: process.env.PATH ?? '', HOME: mailbox.root },
      detached: true,
      stdin: 'ignore',
      stdout: 'pipe',
    })
    const lines = new Lines(child.stdout)
    expect((await lines.next()).body.card.attested.pid).toBe(child.pid)
    child.kill('SIGKILL')
    await child.exited
    expect((await lines.next()).body.kind).toBe('anchor_ended')
  })

  test('a client that speaks MCP itself is its own session, also below an agent', async () => {
    const message = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"m4a_mail_whoami","arguments":{}}}'
    const call = words(mailbox, { token: ann.token, path: '/mcp', body: message })
    const { answers } = await below(claude, call, words(mailbox, whoami(ann)))
    const spoken = answers[0]?.result.structuredContent
    expect(spoken.account).toBe(ann.id)
    expect(spoken.address_text).not.toBe(answers[1]?.address_text)
  })
})

describe('through a forwarder', () => {
  const forwarderOf = async (name: string) => {
    const program = copyAs(mailbox, name, process.execPath)
    const child = Bun.spawn([program, join(import.meta.dir, 'support', 'forwarder.ts'), String(mailbox.port)], {
      env: { PATH: process.env.PATH ?? '', HOME: mailbox.root },
      stdin: 'ignore',
      stdout: 'pipe',
    })
    const { port } = Object(await new Lines(child.stdout).next())
    return { child, port: Number(port) }
  }

  test('a known one is refused by its name, whoever is behind it', async () => {
    for (const name of ['socat', 'ssh']) {
      const { child, port } = await forwarderOf(name)
      try {
        const { status, body } = await run(mailbox, whoami(ann, { port }))
        // the client names the forwarder's port, which is not the mailbox's: only its host is checked
        expect({ status, ...body }).toMatchObject({
          status: 403,
          kind: 'forwarder',
          forwarder: name,
          seen: { pid: child.pid },
        })
      } finally {
        child.kill('SIGKILL')
        await child.exited
      }
    }
  })

  test('an unknown one is a session of its own, never the caller’s', async () => {
    const { child, port } = await forwarderOf('unheard-of')
    try {
      const { body } = await run(mailbox, whoami(ann, { port }))
      expect(body.card.attested).toMatchObject({ pid: child.pid, exe: join(mailbox.root, 'unheard-of') })
    } finally {
      child.kill('SIGKILL')
      await child.exited
    }
  })
})
