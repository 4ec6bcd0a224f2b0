// What differs between the clients: their files, their command line and their shell tool. Each has one recipe.
import type { Json } from '../support/json.ts'

/** How an agent reaches the mailbox: our HTTP door with its account's token, or our bridge as a stdio server. */
export type Door =
  | { kind: 'http'; url: string; token: string }
  | { kind: 'stdio'; command: string[]; env: Record<string, string> }

/** A shell command line that the client itself runs, as its hook, when a prompt arrives. */
export type Hook = string

/**
 * Where an agent lives: a HOME of its own, a working folder, the model's address and the key that selects its script.
 * `resume` is the client's own id of the session to go on with.
 */
export type Setup = {
  home: string
  cwd: string
  modelUrl: string
  modelKey: string
  door: Door
  hook?: Hook
  resume?: string
}

export type Start = { args: string[]; env: Record<string, string> }

export type Recipe = {
  /** Writes the configuration under `setup.home` and says how to start one unattended turn. */
  prepare(setup: Setup): Start
  /** Where the client has one tool through which all of a server's are called: that one and its arguments. */
  through?(server: string, tool: string, args: Json): { tool: string; args: Json }
  /** The client's own shell tool and its arguments for `command`. */
  shell(command: string): { tool: string; args: Json }
  /** A tool's own text in what the client shows its model. */
  unwrap(result: string): string
}

/** The name under which every client knows our server, and the one that `up` gives it. */
export const SERVER = 'mailbox'
export const INSTALLED = 'mail4agent'
