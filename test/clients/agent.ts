// One real agent client, started unattended in a HOME of its own, whose model speaks what the test says.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Json } from '../support/json.ts'
import type { Script } from '../support/model/script.ts'
import type { ScriptedModel } from '../support/scripted-model.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { gemini } from './gemini.ts'
import { grok } from './grok.ts'
import { type AnyClient, clientExecutable } from './install.ts'
import { kimi } from './kimi.ts'
import { opencode } from './opencode.ts'
import { qwen } from './qwen.ts'
import { type Door, type Hook, type Recipe, SERVER } from './recipe.ts'

const RECIPES: Record<AnyClient, Recipe> = { claude, codex, opencode, gemini, qwen, kimi, grok, copilot }

/** A run of a client that is ended by force after this time, in milliseconds. */
const LIFETIME = 600_000

export type Agent = {
  client: AnyClient
  home: string
  script: Script
  /** Calls a tool of the mailbox as the agent; the answer is the JSON of the tool's text. */
  tool(name: string, args?: Json): Promise<Json>
  /** The same, with the tool's text as it is: a refusal may be wrapped in words of the client. */
  toolText(name: string, args?: Json): Promise<string>
  /** Runs a command in the client's own shell tool and gives its output. */
  shell(command: string): Promise<string>
  /** Ends the agent's turn; the client then exits by itself. */
  say(words: string): Promise<void>
}

/** An agent that is configured and not running: what to execute, where, and with which environment. */
export type Prepared = Agent & {
  command: string[]
  cwd: string
  env: Record<string, string>
  gone: AbortController
  /** Ends by force what still runs of it and removes its HOME. */
  close(): Promise<void>
}

export type Running = Prepared & {
  /** The process that was started: the client itself, or the launcher in front of it. */
  pid: number
  /** Ends the turn, waits for the client to exit by itself and gives its exit code. */
  finish(): Promise<number>
}

/**
 * `hook`: a command line that the client runs when its prompt arrives.
 * `home`: a HOME that several clients share, which the test removes itself.
 * `server`: the name of the mailbox there, where `door` is not it.
 * `again`: the HOME of an earlier run, and the client's own id of the session there to go on with.
 */
export type Options = { hook?: Hook; home?: string; server?: string; again?: { home: string; session: string } }

/** Makes a HOME for `client`, configured for `door` and `model`. */
export async function prepareAgent(
  client: AnyClient,
  model: ScriptedModel,
  door: Door,
  { hook, home: shared, server = SERVER, again }: Options = {},
): Promise<Prepared> {
  const recipe = RECIPES[client]
  const executable = await clientExecutable(client)
  // as an installer would have it: the client, and a node that it brought along, are found by name
  const path = `${dirname(executable)}:${process.env.PATH ?? ''}`
  const home = again?.home ?? shared ?? mkdtempSync(join(tmpdir(), `m4a-${client}-`))
  const cwd = join(home, 'work')
  mkdirSync(cwd, { recursive: true })
  const modelKey = `key-${crypto.randomUUID()}`
  const script = model.script(modelKey)
  const setup = { home, cwd, modelUrl: model.url, modelKey, door }
  const extra = { ...(hook ? { hook } : {}), ...(again ? { resume: again.session } : {}) }
  const { args, env } = recipe.prepare({ ...setup, ...extra })
  const gone = new AbortController()
  const call = async (name: string, args: Json) => recipe.unwrap((await script.call(name, args, gone.signal)).text)
  const toolText = (name: string, args: Json = {}) => {
    const through = recipe.through?.(server, name, args)
    return through ? call(through.tool, through.args) : call(name, args)
  }
  return {
    client,
    home,
    script,
    command: [executable, ...args],
    cwd,
    env: { PATH: path, HOME: home, TMPDIR: home, LANG: 'C.UTF-8', ...env },
    gone,
    toolText,
    async tool(name, args) {
      const answer = await toolText(name, args)
      const json: Json = JSON.parse(answer)
      return json
    },
    shell(command) {
      const { tool, args } = recipe.shell(command)
      return call(tool, args)
    },
    say: (words) => script.say(words, gone.signal),
    async close() {
      killHousehold(home)
      if (shared === undefined) rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Starts `client` on one prompt, unattended. */
export async function startAgent(...how: Parameters<typeof prepareAgent>): Promise<Running> {
  return startPrepared(await prepareAgent(...how))
}

/** Starts a client that was configured before. */
export function startPrepared(agent: Prepared): Running {
  const child = Bun.spawn(agent.command, {
    cwd: agent.cwd,
    env: agent.env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: LIFETIME,
    killSignal: 'SIGKILL',
  })
  const output = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  child.exited.then(async (code) => {
    const [out, err] = await output
    agent.gone.abort(new Error(`${agent.client} ended with ${code}: ${`${out}\n${err}`.slice(-4000)}`))
  })
  return {
    ...agent,
    pid: child.pid,
    async finish() {
      await agent.say('done')
      return child.exited
    },
    async close() {
      killHousehold(agent.home)
      await child.exited
      await agent.close()
    },
  }
}

/** Ends what a client left: launcher, client, shells. All of it and nothing else has our temp folder as its HOME (proc(5)). */
export function killHousehold(home: string): void {
  for (const pid of household(home)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended while we looked.
    }
  }
}

/** Every process whose HOME is that folder. */
export function household(home: string): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^[0-9]+$/.test(entry))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HOME=${home}`)
      } catch {
        return false // it ended while we looked, or it is not ours to read
      }
    })
}

/** The command line that starts `agent` from the shell of another one, whose environment it inherits. */
export function commandLine({ command, cwd, env }: Prepared): string {
  const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`
  const settings = Object.entries(env).map(([name, value]) => `${name}=${quote(value)}`)
  return `cd ${quote(cwd)} && env ${settings.join(' ')} ${command.map(quote).join(' ')} </dev/null 2>&1`
}
