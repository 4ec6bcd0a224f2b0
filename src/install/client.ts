// What the installer knows of an agent client: how it is found, and which of its files hold our entries.
import type { Machine, Us } from './machine.ts'

export const CLIENT_NAMES = [
  'claude',
  'codex',
  'gemini',
  'opencode',
  'cursor',
  'vscode',
  'qwen',
  'kimi',
  'grok',
  'copilot',
] as const
/** A client, and the account that it gets. */
export type ClientName = (typeof CLIENT_NAMES)[number]

/** A file of the user that a client reads. Both edits are pure; they throw Damaged or Taken for a text that they leave alone. */
export type ClientFile = {
  readonly path: string
  /** The text with our entries in it; that of a missing file is empty. */
  readonly put: (text: string) => string
  /** The text without them. Empty: nothing of the file is left. */
  readonly drop: (text: string) => string
  /** Is this nothing but the frame of a file that we made? */
  readonly isFrame: (text: string) => boolean
  /** The command line of our server as it stands in the text; null: it does not. Absent: the file holds no server. */
  readonly words?: (text: string) => string[] | null
  /** The file is left alone where it does not exist: its client would else not make its own. Says what to do. */
  readonly onlyExisting?: string
}

export interface AgentClient {
  readonly name: ClientName
  readonly title: string
  /** Its executable, or the folder that it keeps in the user's home; null where it is not on this machine. */
  find(machine: Machine): string | null
  files(machine: Machine, us: Us): ClientFile[]
  /** What the person has to do beside that, or know. */
  readonly note?: string
}

/** The first program on the PATH, else the first path that exists. */
export function findBy(machine: Machine, programs: readonly string[], paths: readonly string[]): string | null {
  for (const program of programs) {
    const path = machine.which(program)
    if (path !== null) return path
  }
  return paths.find((path) => machine.exists(path)) ?? null
}
