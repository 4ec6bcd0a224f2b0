// A client in a terminal of its own, where a person would sit: for what only an interactive session does.
import { killHousehold, type Prepared } from './agent.ts'

/** Milliseconds between the text that a person types and the key that sends it: at once it would be a paste. */
const TYPING = 600

export type Terminal = Prepared & {
  pid: number
  /** Types a line and sends it. */
  type(line: string): Promise<void>
  /** Waits until the screen has shown `text`. */
  shows(text: string): Promise<void>
  /** Resolves with the exit code. */
  ended: Promise<number>
}

/** Starts the client of `agent` with `args` instead of its own. */
export function startInTerminal(agent: Prepared, args: string[]): Terminal {
  const [executable = ''] = agent.command
  let screen = ''
  const child = Bun.spawn([executable, ...args], {
    cwd: agent.cwd,
    env: { ...agent.env, TERM: 'xterm-256color' },
    terminal: {
      cols: 120,
      rows: 40,
      data(_, bytes) {
        screen += new TextDecoder().decode(bytes)
      },
    },
  })
  const { terminal } = child
  if (terminal === undefined) throw new Error('there are no terminals here')
  child.exited.then((code) => agent.gone.abort(new Error(`${agent.client} ended with ${code}: ${screen.slice(-4000)}`)))
  return {
    ...agent,
    pid: child.pid,
    ended: child.exited,
    async type(line) {
      terminal.write(line)
      await Bun.sleep(TYPING)
      terminal.write('\r')
    },
    async shows(text) {
      for (const end = performance.now() + 60_000; !screen.includes(text); await Bun.sleep(50)) {
        agent.gone.signal.throwIfAborted()
        if (performance.now() > end) throw new Error(`no ${text} on the screen: ${screen.slice(-4000)}`)
      }
    },
    async close() {
      killHousehold(agent.home)
      await child.exited
      terminal.close()
      await agent.close()
    },
  }
}
