// opencode: the server in its user-level configuration as `opencode mcp add` writes it, and a plugin, since it has no hooks.
import { join } from 'node:path'
import { type AgentClient, findBy } from '../client.ts'
import type { Machine } from '../machine.ts'
import { hookWords, type Us } from '../machine.ts'
import { jsonFile, ownFile } from './files.ts'

const folder = ({ env, home }: Machine): string => join(env.XDG_CONFIG_HOME || join(home, '.config'), 'opencode')

/** It reads both; the one that is there is the one that its user keeps. */
function config(machine: Machine): string {
  const plain = join(folder(machine), 'opencode.json')
  const commented = `${plain}c`
  return !machine.exists(commented) && machine.exists(plain) ? plain : commented
}

/**
 * Runs in opencode's own process. When a prompt arrives it tells of mail; whatever goes wrong, the prompt goes on as it was.
 * Beside it a waiter of ours stands by for mail, and the session that was active last is prompted: the client that a plugin is
 * given works in the process, without a port.
 */
const plugin = (
  us: Us,
): string => `// Written by mail4agent up; removed by mail4agent down. Tells the agent of mail, and starts a turn for mail that may wake it.
import { spawn } from 'node:child_process'

const COMMAND = ${JSON.stringify(hookWords(us, 'opencode'))}
const WAITER = ${JSON.stringify(hookWords(us, 'opencode-wake'))}
const AGAIN_MS = 30000

/** What the hook prints within two seconds, or nothing. */
const ask = (session) =>
  new Promise((resolve) => {
    const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ['pipe', 'pipe', 'ignore'], timeout: 2000 })
    let text = ''
    child.stdout.on('data', (part) => {
      text += part
    })
    child.on('error', () => resolve(''))
    child.on('close', () => resolve(text))
    child.stdin.on('error', () => {})
    child.stdin.end(JSON.stringify({ hook_event_name: 'UserPromptSubmit', session_id: session }))
  })

/** The waiter: a line of JSON for each wake. It ends with us, and never keeps us from ending. */
const standBy = (wake) => {
  const child = spawn(WAITER[0], WAITER.slice(1), { stdio: ['pipe', 'pipe', 'ignore'] })
  let rest = ''
  child.stdout.on('data', (part) => {
    const lines = (rest + part).split('\\n')
    rest = lines.pop()
    for (const line of lines) wake(JSON.parse(line))
  })
  child.stdin.on('error', () => {})
  for (const one of [child, child.stdin, child.stdout]) one.unref?.()
  return child
}

export const Mail4agent = async ({ client }) => {
  let active = null
  let busy = false
  let waiter = null
  let restAt = 0
  const say = (words) => waiter?.stdin.write(JSON.stringify(words) + '\\n')
  const wake = async ({ message_id, text }) => {
    const wasBusy = busy
    try {
      const body = { parts: [{ type: 'text', text }] }
      const { response, error } = await client.session.promptAsync({ path: { id: active }, body })
      say({ message_id, ok: !error, busy: wasBusy, detail: 'answered ' + (response ? response.status : 'nothing') })
    } catch {
      say({ message_id, ok: false, busy: wasBusy, detail: 'the prompt failed' })
    }
  }
  const begin = () => {
    if (waiter !== null || Date.now() < restAt) return
    waiter = standBy(wake)
    const gone = () => {
      waiter = null
      restAt = Date.now() + AGAIN_MS
    }
    waiter.on('error', gone)
    waiter.on('close', gone)
  }
  return {
    event: async ({ event: { type, properties } }) => {
      try {
        if (!/^session\\.(created|updated|idle|status)$/.test(type)) return
        // a session that another one made for itself is not where its user is
        if (properties.info?.parentID) return
        active = properties.sessionID ?? properties.info?.id ?? active
        if (active === null) return
        begin()
        if (type !== 'session.idle' && type !== 'session.status') return
        const now = type === 'session.status' && properties.status?.type === 'busy'
        if (now !== busy) say({ busy: now })
        busy = now
      } catch {}
    },
    'chat.message': async (input, output) => {
      try {
        const text = await ask(input.sessionID)
        const [first] = output.parts
        if (!text || !first) return
        const { agent, human } = JSON.parse(text)
        const id = output.parts.at(-1).id + 'mail4agent'
        output.parts.push({ id, sessionID: first.sessionID, messageID: first.messageID, type: 'text', synthetic: true, text: agent })
        await client.tui.showToast({ body: { message: human, variant: 'info' } }).catch(() => {})
      } catch {}
    },
  }
}
`

export const opencode: AgentClient = {
  name: 'opencode',
  title: 'opencode',
  find: (machine) => findBy(machine, ['opencode'], [folder(machine)]),
  files: (machine, us) => [
    jsonFile(config(machine), us, 'opencode', {
      server: { at: ['mcp'], entry: (command, args) => ({ type: 'local', command: [command, ...args] }) },
      first: { $schema: 'https://opencode.ai/config.json' },
    }),
    ownFile(join(folder(machine), 'plugin', 'mail4agent.js'), plugin(us)),
  ],
}
