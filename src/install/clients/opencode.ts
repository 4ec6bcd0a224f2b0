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

/** Runs in opencode's own process when a prompt arrives; whatever goes wrong, the prompt goes on as it was. */
const plugin = (
  us: Us,
): string => `// Written by mail4agent up; removed by mail4agent down. Tells the agent of mail that it has not been told of.
import { spawn } from 'node:child_process'

const COMMAND = ${JSON.stringify(hookWords(us, 'opencode'))}

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

export const Mail4agent = async ({ client }) => ({
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
})
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
