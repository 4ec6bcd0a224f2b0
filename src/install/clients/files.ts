// The forms that clients' files have, made of the edits: JSON with a server and hooks, a file that is ours alone.
import { isDeepStrictEqual } from 'node:util'
import { HOOK_TOOL } from '../../delivery/notices.ts'
import type { ClientFile } from '../client.ts'
import { Taken } from '../edit/damaged.ts'
import { dropHooks, type Handler, type HookForm, putHooks, type Wanted } from '../edit/hooks.ts'
import { JsonText, type Path, type Value } from '../edit/json.ts'
import { dropServer, putServer, serverWords } from '../edit/server.ts'
import { dropTomlServer, putTomlServer, tomlServerWords } from '../edit/toml-server.ts'
import { bridgeWords, hookWords, isOurBridge, isOurHook, type Machine, SERVER, shellLine, type Us } from '../machine.ts'

/** Seconds that a client waits for a hook of ours at most; it needs a tenth of one. */
export const HOOK_SECONDS = 5

type Parts = {
  /** Where the server stands, and what it is beside our command line. */
  server?: { at: Path; entry: (command: string, args: string[]) => { readonly [member: string]: Value } }
  hooks?: { client: string; grouped: boolean; wanted: Wanted }
  /** Members that a new file needs. */
  first?: { readonly [member: string]: Value }
}

/** A JSON file that holds our server, our hooks, or both. */
export function jsonFile(path: string, us: Us, account: string, { server, hooks, first = {} }: Parts): ClientFile {
  const isOurs = (words: readonly string[]) => isOurBridge(words, us)
  const form = hooks && hookForm(hooks.client, hooks.grouped, us)
  return {
    path,
    put(text) {
      const json = new JsonText(text)
      for (const [member, value] of isBlank(text) ? Object.entries(first) : []) json.set([member], value)
      if (server) {
        const [command, ...args] = bridgeWords(us, account)
        putServer(json, [...server.at, SERVER], server.entry(command, args), isOurs)
      }
      if (hooks && form) putHooks(json, hooks.wanted, form)
      return json.text
    },
    drop(text) {
      const json = new JsonText(text)
      if (server) dropServer(json, [...server.at, SERVER], isOurs)
      if (form) dropHooks(json, form)
      return json.text
    },
    ...(server && { words: (text: string) => serverWords(new JsonText(text), [...server.at, SERVER]) }),
    isFrame(text) {
      const left = new JsonText(text).at([])
      return isDeepStrictEqual(left, {}) || isDeepStrictEqual(left, first)
    },
  }
}

/** `mcp_servers.mail4agent` of a TOML file. */
export function tomlServerFile(path: string, us: Us, account: string): ClientFile {
  const isOurs = (words: readonly string[]) => isOurBridge(words, us)
  const [command, ...args] = bridgeWords(us, account)
  return {
    path,
    put: (text) => putTomlServer(text, { name: SERVER, command, args, isOurs }),
    drop: (text) => dropTomlServer(text, { name: SERVER, isOurs }),
    words: (text) => tomlServerWords(text, SERVER),
    isFrame: isBlank,
  }
}

/** A file that is ours as a whole. One of that name that does not speak of us is not replaced. */
export const ownFile = (path: string, content: string): ClientFile => ({
  path,
  put(text) {
    if (text !== '' && !text.includes(SERVER)) throw new Taken(`${path} is another file`)
    return content
  },
  drop: (text) => (text.includes(SERVER) ? '' : text),
  isFrame: isBlank,
})

export const isBlank = (text: string): boolean => /^\uFEFF?\s*$/.test(text)

function hookForm(client: string, grouped: boolean, us: Us): HookForm {
  return {
    grouped,
    isOurs: ({ type, server, tool, command, bash, powershell }) =>
      (type === 'mcp_tool' && server === SERVER && tool === HOOK_TOOL) ||
      [command, bash, powershell].some((line) => typeof line === 'string' && isOurHook(line, client, us)),
  }
}

/** The command line of a hook, for clients that hand it to a shell. */
export const hookLine = (machine: Machine, us: Us, client: string, event?: string): string =>
  shellLine(hookWords(us, client, event), machine.platform)

export const command = (line: string, more: { readonly [member: string]: Value } = {}): Handler => ({
  type: 'command',
  command: line,
  ...more,
})
