// A client as a person has it: its screen in a terminal, idle until somebody types or mail wakes it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json } from '../support/json.ts'
import type { Prepared } from './agent.ts'
import type { AnyClient } from './install.ts'

export type Terminal = Prepared & {
  pid: number
  /** What it has written on its screen so far, without control sequences. */
  screen(): string
  /** Types a line. */
  type(line: string): Promise<void>
  exited: Promise<number>
  end(): Promise<void>
}

/** Arguments of a session with a screen, in place of those of an unattended turn. */
const ARGS: Partial<Record<AnyClient, string[]>> = {
  claude: ['--dangerously-skip-permissions'],
  codex: ['follow the script'],
  opencode: ['--prompt', 'follow the script'],
  gemini: ['--approval-mode', 'yolo', '-m', 'gemini-2.5-flash', '-i', 'follow the script'],
  qwen: ['--approval-mode', 'yolo', '--input-file', 'input.jsonl', '-i', 'follow the script'],
}

/** What its user has said once, in its own dialogs. */
export function consent(agent: Prepared): void {
  if (agent.client === 'qwen') {
    writeFileSync(join(agent.cwd, 'input.jsonl'), '')
    // requests of its own between the turns would use up lines of the script
    const path = join(agent.home, '.qwen', 'settings.json')
    const settings: Json = JSON.parse(readFileSync(path, 'utf8'))
    writeFileSync(path, JSON.stringify({ ...Object(settings), ui: { enableFollowupSuggestions: false } }))
  }
  if (agent.client === 'codex') {
    const path = join(agent.home, '.codex', 'config.toml')
    const settings = ['approval_policy = "never"', 'sandbox_mode = "danger-full-access"']
    // no dialog about hooks: the daemon, which is meant here, has no option to skip it
    const features = ['[features]', 'hooks = false']
    writeFileSync(path, [...settings, readFileSync(path, 'utf8'), ...features, ''].join('\n'))
  }
  if (agent.client !== 'claude') return
  const path = join(agent.home, '.claude', 'settings.json')
  const settings: Json = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
  writeFileSync(path, JSON.stringify({ ...Object(settings), skipDangerousModePermissionPrompt: true }))
}

export function startInTerminal(agent: Prepared, client: AnyClient, more: string[] = []): Terminal {
  const [executable = ''] = agent.command
  let shown = ''
  const child = Bun.spawn([executable, ...(ARGS[client] ?? []), ...more], {
    cwd: agent.cwd,
    env: { ...agent.env, TERM: 'xterm-256color', COLORTERM: '' },
    terminal: {
      cols: 120,
      rows: 40,
      data: (terminal, data) => {
        const text = Buffer.from(data).toString('utf8')
        shown += text
        answer(text, (words) => terminal.write(words))
      },
    },
  })
  child.exited.then((code) => agent.gone.abort(new Error(`${client} ended with ${code}: ${plain(shown).slice(-2000)}`)))
  const write = (text: string) => child.terminal?.write(text)
  return {
    ...agent,
    pid: child.pid,
    screen: () => plain(shown),
    async type(line) {
      write(line)
      await Bun.sleep(300)
      write('\r')
    },
    exited: child.exited,
    async end() {
      child.kill('SIGKILL')
      await child.exited
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
const plain = (text: string): string => text.replaceAll(CONTROL, ' ')
