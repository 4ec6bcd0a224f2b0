// Clients whose hooks tell the agent at the end of a turn or at a prompt: while it is idle no turn starts, and the letter waits.
import { ready, type WakeAdapter, type WakeTarget, woken } from '../adapter.ts'
import { claudeRecord } from '../records/claude.ts'

/** Those whose hooks go on after a turn. */
const AT_THE_END = new Set(['claude', 'codex', 'gemini', 'qwen', 'copilot', 'cursor-agent'])
/** Those that are told with the next prompt. */
const AT_A_PROMPT = new Set([...AT_THE_END, 'kimi', 'opencode'])

const isBusy = (target: WakeTarget): boolean => target.provider === 'claude' && claudeRecord(target)?.status === 'busy'

export const turnHook: WakeAdapter = {
  id: 'turn-hook',
  tier: 'hook',
  optIn: false,
  serves: ({ provider, process }) => process !== null && provider !== null && AT_A_PROMPT.has(provider),
  probe: async (target) => ready(isBusy(target)),
  async wake(target) {
    const end = AT_THE_END.has(target.provider ?? '') ? 'at the end of a turn that runs, or ' : ''
    return woken('stored', `its hook tells it ${end}with its next prompt; nothing starts a turn of it before`)
  },
}
