// Where a process runs, as its environment says: on a person's machine or at a vendor, of which provider, in which session.

export type Surface = 'web' | 'local'
export type WebVendor = 'grok-bot' | 'claude-web' | 'codex-cloud' | 'cursor-cloud'
export type Provider = 'claude' | 'codex' | 'cursor' | 'grok' | 'kimi' | 'opencode' | 'gemini' | 'qwen' | 'copilot'

export type Host = {
  surface: Surface
  vendor: WebVendor | null
  /** null: no marker names one. */
  provider: Provider | null
  /** The client's own id; shown to nobody. */
  sessionId: string | null
  /** No client holds the session open. */
  headless: boolean
}

type Env = Readonly<Record<string, string | undefined>>

const VENDORS: Readonly<Record<string, WebVendor>> = {
  'grok-bot': 'grok-bot',
  grokbot: 'grok-bot',
  'claude-web': 'claude-web',
  claude: 'claude-web',
  'codex-cloud': 'codex-cloud',
  codex: 'codex-cloud',
  'cursor-cloud': 'cursor-cloud',
  cursor: 'cursor-cloud',
}
const PROVIDERS: Readonly<Record<string, Provider>> = {
  claude: 'claude',
  'claude-code': 'claude',
  claudecode: 'claude',
  codex: 'codex',
  cursor: 'cursor',
  'cursor-agent': 'cursor',
  grok: 'grok',
  kimi: 'kimi',
  'kimi-code': 'kimi',
  kimicode: 'kimi',
  opencode: 'opencode',
  gemini: 'gemini',
  qwen: 'qwen',
  'qwen-code': 'qwen',
  copilot: 'copilot',
}
const SESSION_NAMES: Readonly<Partial<Record<Provider, readonly string[]>>> = {
  claude: ['CLAUDE_CODE_SESSION_ID', 'CLAUDE_SESSION_ID', 'CLAUDE_CODE_REMOTE_SESSION_ID'],
  codex: ['CODEX_THREAD_ID', 'CODEX_SESSION_ID'],
  gemini: ['GEMINI_SESSION_ID'],
}
const isOn = (value: string | undefined): boolean => value === '1' || value?.toLowerCase() === 'true'
const word = (value: string | undefined): string => (value ?? '').trim().toLowerCase()

/** What was set by hand goes before every marker. Throws where it names what is not known. */
export function detectHost(env: Env): Host {
  const vendor = vendorOf(env)
  const forced = word(env.M4A_SURFACE)
  if (forced !== '' && forced !== 'local' && forced !== 'web') throw new UnknownName('M4A_SURFACE')
  const surface: Surface = forced === 'local' ? 'local' : forced === 'web' || vendor !== null ? 'web' : 'local'
  const provider = providerOf(env)
  const sessionId = (provider === null ? [] : (SESSION_NAMES[provider] ?? [])).map((name) => env[name]).find(Boolean)
  return {
    surface,
    vendor: surface === 'local' ? null : vendor,
    provider,
    sessionId: sessionId ?? null,
    headless: isOn(env.M4A_HEADLESS) || env.CLAUDE_CODE_SESSION_ATTENDED === '0',
  }
}

/** The variable, not its value: that may be anything. */
export class UnknownName extends Error {
  constructor(readonly variable: string) {
    super(`${variable} names nothing that is known`)
  }
}

function vendorOf(env: Env): WebVendor | null {
  const named = word(env.M4A_WEB_VENDOR).replaceAll('_', '-')
  if (named !== '') {
    const vendor = VENDORS[named]
    if (vendor === undefined) throw new UnknownName('M4A_WEB_VENDOR')
    return vendor
  }
  return isOn(env.CLAUDE_CODE_REMOTE) ? 'claude-web' : null
}

function providerOf(env: Env): Provider | null {
  const named = word(env.M4A_PROVIDER)
  if (named !== '') {
    const provider = PROVIDERS[named]
    if (provider === undefined) throw new UnknownName('M4A_PROVIDER')
    return provider
  }
  if (env.CLAUDECODE || isOn(env.CLAUDE_CODE_REMOTE)) return 'claude'
  if (env.CODEX_THREAD_ID) return 'codex'
  if (env.CURSOR_AGENT) return 'cursor'
  return env.GEMINI_SESSION_ID ? 'gemini' : null
}
