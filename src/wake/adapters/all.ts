// Every door, in the order in which they are tried within one tier.
import type { WakeAdapter } from '../adapter.ts'
import type { Standing } from '../standing.ts'
import type { Turns } from '../turns.ts'
import { claudeRewake } from './claude-rewake.ts'
import { codexDaemon, codexLoad } from './codex-daemon.ts'
import { opencodePlugin } from './opencode-plugin.ts'
import { opencodeServer } from './opencode-server.ts'
import { turnHook } from './turn-hook.ts'

/** What doors need of the mailbox. */
export type Surroundings = {
  readonly standing: Standing
  readonly turns: Turns
  readonly dataDir: string
  readonly env: Readonly<Record<string, string | undefined>>
}

export const adaptersOf = ({ standing, turns }: Surroundings): WakeAdapter[] => [
  claudeRewake(standing, turns),
  codexDaemon,
  opencodePlugin(standing, turns),
  opencodeServer,
  turnHook,
  codexLoad,
]
