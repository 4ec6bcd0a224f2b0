// A client in a terminal of its own, where a person would sit: for what only an interactive session does.
import { killHousehold, type Prepared } from './agent.ts'

/** Milliseconds between the text that a person types and the key that sends it: at once it would be a paste. */
const TYPING = 600
const PATIENCE = 60_000

export type Terminal = Prepared & {
  pid: number
  /** What it has written on its screen so far, without control sequences. */
  screen(): string
  /** Waits until the screen has shown `text`. */
  shows(text: string): Promise<void>
  /** Types a line and sends it. */
  type(line: string): Promise<void>
  /** Resolves with the exit code. */
  exited: Promise<number>
  /** Ends by force the process alone. */
  end(): Promise<void>
}

/** Starts the client of `agent` with `args` instead of its own. */
export function startInTerminal(agent: Prepared, args: readonly string[]): Terminal {
  const [executable = ''] = agent.command
  let raw = ''
  const screen = () => raw.replaceAll(CONTROL, ' ')
  const decoder = new TextDecoder()
  const child = Bun.spawn([executable, ...args], {
    cwd: agent.cwd,
    env: { ...agent.env, TERM: 'xterm-256color', COLORTERM: '' },
    terminal: {
      cols: 120,
      rows: 40,
      data(terminal, bytes) {
        const text = decoder.decode(bytes, { stream: true })
        raw += text
        answer(text, (words) => terminal.write(words))
      },
    },
  })
  const { terminal } = child
  if (terminal === undefined) throw new Error('there are no terminals here')
  child.exited.then((code) =>
    agent.gone.abort(new Error(`${agent.client} ended with ${code}: ${screen().slice(-4000)}`)),
  )
  return {
    ...agent,
    pid: child.pid,
    screen,
    exited: child.exited,
    async shows(text) {
      for (const end = performance.now() + PATIENCE; !raw.includes(text); await Bun.sleep(50)) {
        agent.gone.signal.throwIfAborted()
        if (performance.now() > end) throw new Error(`no ${text} on the screen: ${screen().slice(-4000)}`)
      }
    },
    async type(line) {
      terminal.write(line)
      await Bun.sleep(TYPING)
      terminal.write('\r')
    },
    async end() {
      child.kill('SIGKILL')
      await child.exited
    },
    async close() {
      killHousehold(agent.home)
      await child.exited
      terminal.close()
      await agent.close()
    },
  }
}

/** A client asks its terminal what it can do and where the cursor is: DSR, DA and colours of xterm. */
function answer(text: string, write: (words: string) => void): void {
  if (text.includes('\x1b[6n')) write('\x1b[1;1R')
  if (text.includes('\x1b[c') || text.includes('\x1b[0c')) write('\x1b[?62;22c')
  if (text.includes('\x1b]10;?')) write('\x1b]10;rgb:ffff/ffff/ffff\x1b\\')
  if (text.includes('\x1b]11;?')) write('\x1b]11;rgb:0000/0000/0000\x1b\\')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences are what is taken out
const CONTROL = /\x1b(?:\[[0-9;?<>=!]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[@-Z\\-_()].?)/g
