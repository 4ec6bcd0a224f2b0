// The compiled binary on the command line: a mailbox from its first start, mail there and back, and every exit code.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InboxAnswer, ReceiptsAnswer, SendAnswer, WhoamiAnswer } from '../../src/wire/answers.ts'
import type { Message } from '../../src/wire/letter.ts'
import { BINARY, CliWorld, type Daemon } from './support/cli-world.ts'

setDefaultTimeout(60_000)

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

describe('without a mailbox', () => {
  test('send stores nothing, exits with 3 and names the command that starts it', async () => {
    await using at = new CliWorld()
    const { code, out, err } = await at.run(['send', 'codex', 'hi'])
    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toEndWith('try: start the mailbox with: mail4agent start\n')
    expect(readdirSync(at.home)).toEqual(['claude'])
  })
})

describe('a mailbox', () => {
  let at: CliWorld
  let daemon: Daemon
  beforeAll(async () => {
    at = new CliWorld()
    daemon = await at.serve()
    for (const name of ['claude', 'codex']) await at.run(['admin', 'account', 'add', name])
  })
  afterAll(() => at[Symbol.asyncDispose]())

  const send = (from: string, to: string, ...more: string[]) => at.json<SendAnswer>(['--as', from, 'send', to, ...more])
  const inbox = async (as: string, ...more: string[]) =>
    (await at.json<InboxAnswer>(['inbox', '--as', as, ...more])).messages

  test('says where it listens and what to do next, and keeps its files to itself', () => {
    expect(daemon.out).toMatch(/^listens on http:\/\/127\.0\.0\.1:\d+ and .*m4a\.sock\n/)
    expect(daemon.out).toContain(`the operator's key is in ${at.dataDir}/operator.key\n`)
    expect(daemon.out).toContain('mail4agent admin account add claude\n')
    expect(mode(at.dataDir)).toBe('700')
    for (const file of ['operator.key', 'daemon.json', 'tokens/claude', 'tokens/codex'])
      expect(mode(join(at.dataDir, file))).toBe('600')
    const key = readFileSync(join(at.dataDir, 'operator.key'), 'utf8').trim()
    expect(daemon.out).not.toContain(key)
  })

  test('the answers of admin commands hold no secret, unless it is asked for', async () => {
    const made = await at.json<{ token_file: string; secret?: string }>(['admin', 'account', 'add', 'quiet'])
    const secret = readFileSync(made.token_file, 'utf8').trim()
    expect(made).toEqual({ id: 'quiet', token_file: join(at.dataDir, 'tokens/quiet') } as never)
    const { secret: printed } = await at.json<{ secret: string }>([
      'admin',
      'account',
      'rotate',
      'quiet',
      '--print-token',
    ])
    expect(printed).not.toBe(secret)
    expect(readFileSync(made.token_file, 'utf8').trim()).toBe(printed)
    expect((await at.run(['whoami'], { env: { M4A_TOKEN: secret } })).code).toBe(1)
    expect((await at.run(['whoami'], { env: { M4A_TOKEN: printed } })).code).toBe(0)
    const { out } = await at.run(['admin', 'account', 'list'])
    expect(out).not.toContain(printed)
    expect((await at.run(['admin', 'account', 'remove', 'Quiet'])).code).toBe(0)
    expect(existsSync(made.token_file)).toBe(false)
  })

  test('a taken name keeps its token, and nothing is left of the attempt', async () => {
    const before = readFileSync(join(at.dataDir, 'tokens/claude'), 'utf8')
    expect(await at.run(['admin', 'account', 'add', 'CLAUDE'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('try: choose another name'),
    })
    expect(readFileSync(join(at.dataDir, 'tokens/claude'), 'utf8')).toBe(before)
    expect(readdirSync(join(at.dataDir, 'tokens')).sort()).toEqual(['claude', 'codex'])
  })

  test('a body arrives byte for byte, from a word, standard input and a file', async () => {
    const body = '\ufeff one\r\n\ttwo ✅\u202e\u001b[31m\n\n'
    writeFileSync(join(at.home, 'body'), body)
    const ids = [
      (await send('claude', 'codex', '-s', 'x', '--', body)).message_id,
      (await at.json<SendAnswer>(['send', 'codex', '-s', 'x', '-', '--as', 'claude'], { stdin: body })).message_id,
      (await send('claude', '@codex', '-s', 'x', '--file', 'body')).message_id,
    ]
    for (const id of ids) {
      expect((await at.run(['view', id, '--body', '--peek', '--as', 'codex'])).out).toBe(body)
      const { out } = await at.run(['view', id, '--peek', '--as', 'codex'])
      for (const unseen of ['\u001b', '\u202e', '\ufeff']) expect(out).not.toContain(unseen)
    }
    const invalid = await at.run(['send', 'codex', '-', '--as', 'claude'], { stdin: new Uint8Array([0xff]) })
    expect(invalid).toMatchObject({ code: 2, out: '' })
    expect((await at.run(['ack', ...ids, '--as', 'codex'])).code).toBe(0)
  })

  test('reply closes, the sender sees it, reopen takes it back, all closes what was listed', async () => {
    const { message_id } = await send('claude', 'codex', 'please')
    expect((await at.run(['view', 'latest', '--as', 'codex'])).out).toContain('subject  please')
    expect((await at.run(['reply', message_id, 'done', '--as', 'codex'])).code).toBe(0)
    const { receipts } = await at.json<ReceiptsAnswer>(['receipts', message_id, '--as', 'claude'])
    expect(receipts[0]?.deliveries[0]).toMatchObject({ state: 'closed', close_reason: 'replied' })
    expect(await inbox('codex')).toEqual([])
    expect((await at.run(['reopen', message_id, '--as', 'codex'])).code).toBe(0)
    expect((await at.run(['ack', 'all', '--as', 'codex'])).out).toBe('closed 1\n')
    await send('claude', 'codex', 'never listed')
    expect(await at.run(['ack', 'all', '--as', 'codex'])).toMatchObject({
      code: 0,
      out: 'closed 0\n',
      err: expect.stringContaining('never listed'),
    })
    expect((await at.run(['close', 'all', '--as', 'codex'])).out).toBe('closed 1\n')
    // the session that wrote was that of one command, so the answer went to the account
    expect((await inbox('claude')).map(({ body }) => body)).toEqual(['done'])
    expect((await at.run(['ack', 'all', '--as', 'claude'])).out).toBe('closed 1\n')
  })

  test('exit codes: refused 1, usage 2', async () => {
    expect((await at.run(['send', 'nobody', 'hi', '--as', 'claude'])).code).toBe(1)
    expect((await at.run(['send', 'codex,nobody', 'hi', '--as', 'claude'])).code).toBe(1)
    expect((await at.run(['send', 'codex', '--as', 'claude'])).code).toBe(2)
    expect((await at.run(['whoami'])).err).toContain('candidates: claude, codex, operator')
    expect((await at.run(['whoami'])).code).toBe(2)
    const { code, out, err } = await at.run(['view', 'm4a_0123456789abcdef01234567', '--json', '--as', 'claude'])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(JSON.parse(err)).toMatchObject({ kind: 'unknown_message', hint: expect.any(String) })
    await at.run(['ack', 'all', '--as', 'codex'])
    await at.run(['ack', 'all', '--as', 'codex'])
  })

  test('a reader that leaves early is no failure', async () => {
    await send('claude', 'codex', '-s', 'long', '--', 'line\n'.repeat(12_000))
    const script = `'${BINARY}' inbox --full --as codex | head -1; echo "\${PIPESTATUS[0]}"`
    const child = at.spawn(['bash', '-c', script])
    expect(await new Response(child.stdout).text()).toMatch(/^from .*\n0\n$/)
    expect(await new Response(child.stderr).text()).not.toContain('EPIPE')
  })

  test('a command in an agent’s shell acts as that agent’s session, with its own token', async () => {
    const { out, code } = await at.asAgent('m4a whoami --json; m4a whoami --json')
    expect(code).toBe(0)
    const [first, second] = out
      .trim()
      .split('\n')
      .map((line): WhoamiAnswer => JSON.parse(line))
    expect(first?.account).toBe('claude')
    expect(first?.address_text).toBe(second?.address_text ?? '')
    expect(first?.card?.attested.exe).toBe(at.agent)
    // A subshell would be another process of that name, and so another session: our commands stand outside of $( ).
    const letters = await at.asAgent(`m4a send codex 'from the shell' --json > sent.json
      id=$(sed 's/.*"message_id":"\\([^"]*\\)".*/\\1/' sent.json)
      m4a reply "$id" --keep answer --as codex > replied; m4a inbox --json`)
    expect(JSON.parse(letters.out).messages.map((message: Message) => message.body)).toEqual(['answer'])
  })

  test('an agent is no operator', async () => {
    for (const command of [
      'm4a admin account list',
      'm4a whoami --as operator',
      `M4A_TOKEN_FILE='${at.dataDir}/operator.key' m4a whoami`,
    ])
      expect(await at.asAgent(command)).toMatchObject({
        code: 1,
        err: expect.stringContaining('try: this token belongs to a person'),
      })
  })

  test('the bridge serves MCP as the session above it', async () => {
    const lines = [
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
      },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'm4a_mail_whoami', arguments: {} } },
    ]
    writeFileSync(join(at.home, 'mcp.in'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const { out } = await at.asAgent('m4a whoami --json; m4a mcp < mcp.in')
    const [whoami, ...answers] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(answers.map((answer) => answer.id).sort()).toEqual([1, 2])
    const called = answers.find((answer) => answer.id === 2)
    expect(called.result.structuredContent.address_text).toBe(whoami.address_text)
  })

  test('a session that has ended is named by a prefix, and a reply to it goes to its account', async () => {
    const { message_id, from_text } = await send('claude', 'codex', 'from one command')
    const replied = await at.json<SendAnswer>(['reply', message_id, 'too late', '--as', 'codex'])
    expect(replied.results).toMatchObject([{ to_text: 'claude', warning: expect.stringContaining('has ended') }])
    expect((await inbox('claude')).map(({ message_id }) => message_id)).toEqual([replied.message_id])
    const prefix = from_text.slice(0, -12)
    const late = await send('codex', prefix, 'to the command')
    expect(late.results).toMatchObject([{ to_text: from_text, ok: true }])
    expect((await at.run(['admin', 'orphans', 'release', prefix])).out).toBe('released 1\n')
    await at.run(['ack', 'all', '--as', 'claude'])
  })

  test('a claim outside of an agent ends with its command, and says so', async () => {
    const { message_id } = await send('claude', 'codex', 'mine')
    expect((await at.run(['claim', message_id, '--as', 'codex'])).err).toContain('ends with this command')
    const other = (await send('claude', 'codex', 'the agent’s')).message_id
    await at.asAgent(`m4a claim ${other} --as codex 2> claimed`)
    const said = readFileSync(join(at.home, 'claimed'), 'utf8')
    expect(said).toMatch(/^until /)
    expect(said).not.toContain('ends with this command')
  })

  test('what the operator allows in the configuration file holds; what is not understood is refused', async () => {
    await using other = new CliWorld()
    const folder = join(other.home, '.config', 'mail4agent')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'config.toml'), 'allow_agents_as_person = true\n')
    const refused = await other.run(['serve', '--port', '0'])
    expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining('allow_agents_as_person\n') })
    expect(existsSync(other.dataDir)).toBe(false)
    writeFileSync(join(folder, 'config.toml'), 'allow_agents_as_persons = true\n')
    await other.serve()
    expect((await other.asAgent('m4a whoami --as operator')).code).toBe(0)
  })

  test('a second mailbox on the folder is refused, and TCP works as the socket does', async () => {
    expect(await at.run(['serve', '--port', '0'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('already runs on this data folder'),
    })
    const { port, pid } = JSON.parse(readFileSync(join(at.dataDir, 'daemon.json'), 'utf8'))
    const second = await at.run(['serve', '--port', String(port)])
    expect(second.err).toContain(`process ${pid}, http://127.0.0.1:${port}\n`)
    const elsewhere = join(at.home, 'never', 'made')
    const taken = await at.run(['serve', '--port', String(port), '--data-dir', elsewhere])
    expect(taken).toMatchObject({ code: 1, out: '', err: expect.stringContaining(`port ${port}`) })
    expect(existsSync(join(at.home, 'never'))).toBe(false)
    const env = { M4A_TOKEN_FILE: join(at.dataDir, 'tokens/claude'), M4A_DATA_DIR: join(at.home, 'elsewhere') }
    expect(await at.run(['unread', '--port', String(port)], { env })).toMatchObject({ code: 0 })
  })

  test('completion completes in bash', async () => {
    const script = `source <('${BINARY}' completion bash); c() { COMP_WORDS=(mail4agent "$@"); COMP_CWORD=$#; _mail4agent; echo "\${COMPREPLY[*]}"; }; c adm; c admin acc; c admin account ro; c send --sub; c completion f; COMP_WORDS=('${BINARY}' inbox --as cl); COMP_CWORD=3; _mail4agent; echo "\${COMPREPLY[*]}"`
    const child = at.spawn(['bash', '-c', script])
    expect(await new Response(child.stdout).text()).toBe('admin\naccount\nrotate\n--subject\nfish\nclaude\n')
  })
})
