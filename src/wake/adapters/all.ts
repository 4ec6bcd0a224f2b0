// Every door, in the order in which they are tried within one tier.
import type { WakeAdapter } from '../adapter.ts'
import type { Secrets } from '../secrets.ts'
import type { Standing } from '../standing.ts'
import type { Turns } from '../turns.ts'
import { acpHost } from './acp.ts'
import { claudeChannel } from './claude-channel.ts'
import { claudeInbox } from './claude-inbox.ts'
import { claudeRewake } from './claude-rewake.ts'
import { codexDaemon, codexLoad } from './codex-daemon.ts'
import { codexQueue } from './codex-queue.ts'
import { grokLeader } from './grok-leader.ts'
import { kimiServer } from './kimi-server.ts'
import { opencodePlugin } from './opencode-plugin.ts'
import { opencodeServer } from './opencode-server.ts'
import { letterHook, spool } from './owner.ts'
import { qwenInput, qwenPeer } from './qwen.ts'
import { resumeDoors } from './resume.ts'
import { claudeRoutine, codexCloud, webhook } from './routines.ts'
import { turnHook } from './turn-hook.ts'

/** What doors need of the mailbox. */
export type Surroundings = {
  readonly standing: Standing
  readonly turns: Turns
  readonly dataDir: string
  readonly secrets: Secrets
  readonly env: Readonly<Record<string, string | undefined>>
  readonly now: () => number
  /** When a session of the account called last (ms). */
  readonly lastCall: (account: string) => number
  /** The routine that a host of many agents has for the account. */
  readonly routine: (account: string) => { url: string; key: string } | null
}

export const adaptersOf = ({
  standing,
  turns,
  dataDir,
  secrets,
  env,
  now,
  lastCall,
  routine,
}: Surroundings): WakeAdapter[] => [
  claudeRewake(standing, turns),
  claudeChannel(standing),
  claudeInbox,
  codexDaemon,
  codexQueue(turns, env),
  opencodePlugin(standing, turns),
  opencodeServer,
  grokLeader,
  kimiServer,
  qwenInput(turns),
  qwenPeer,
  letterHook({ dataDir, env }),
  webhook({ dataDir, secrets }, (account) => {
    const found = routine(account)
    return found && { ...found, consent: true }
  }),
  turnHook,
  spool({ dataDir, env }),
  codexLoad,
  ...resumeDoors({ env, now, lastCall }),
  acpHost({ dataDir, env }),
  claudeRoutine({ dataDir, secrets }),
  codexCloud,
]
