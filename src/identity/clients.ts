// What is known of each agent client: its packages, the options of its command line, how it names a session. Data, no behaviour.

export type Client = {
  /** npm packages whose scripts are this client. */
  packages: readonly string[]
  /** Options whose value is the model. */
  model: readonly string[]
  /** Options whose value is the session to go on with. */
  session: readonly string[]
  /** Commands whose next word is the session to go on with, such as `resume ID` and `exec resume ID`. */
  resume: readonly (readonly string[])[]
  /** Other options that take a value: that value is never read as an option, whatever it looks like. */
  valued: readonly string[]
  /** Options that make a new session out of the one named. */
  forks: readonly string[]
  /** Form of its session ids; a search term or an index is none. */
  id: RegExp
  /** Variable of its shells that names the conversation. */
  conversation?: string
  /** One process runs several conversations and names one on each call: the process's own session resumes nothing. */
  keyed?: true
  /** Where it keeps `sessions/PID.json`: the variable that moves its folder, and the folder below HOME. */
  record?: { variable: string | null; folder: string }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const ANY_ID = /^(?=[^/]*[0-9])[A-Za-z0-9_-]{8,128}$/

const PLAIN: Client = {
  packages: [],
  model: ['--model', '-m'],
  session: ['--resume', '-r'],
  resume: [],
  valued: [],
  forks: [],
  id: ANY_ID,
}

/** Of a list of words separated by spaces, for tables that would be very tall otherwise. */
const words = (text: string): string[] => text.split(' ')

const GEMINI = words(
  '-p --prompt -i --prompt-interactive --approval-mode -e --extensions --include-directories -o --output-format --policy --allowed-tools --allowed-mcp-server-names',
)

const TABLE: Readonly<Record<string, Client>> = {
  claude: {
    ...PLAIN,
    packages: ['@anthropic-ai/claude-code'],
    model: ['--model'],
    session: ['--resume', '-r', '--session-id'],
    forks: ['--fork-session'],
    id: UUID,
    conversation: 'CLAUDE_CODE_SESSION_ID',
    record: { variable: 'CLAUDE_CONFIG_DIR', folder: '.claude' },
    valued: words(
      '--system-prompt --system-prompt-file --append-system-prompt --append-system-prompt-file --allowedTools --allowed-tools --disallowedTools --disallowed-tools --tools --mcp-config --permission-mode --permission-prompt-tool --fallback-model --settings --setting-sources --add-dir --agents --agent --input-format --output-format --max-turns --max-budget-usd --json-schema --plugin-dir --debug-file --betas --effort --channels --name -n',
    ),
  },
  codex: {
    ...PLAIN,
    packages: ['@openai/codex'],
    session: [],
    resume: [['resume'], ['exec', 'resume'], ['e', 'resume']],
    id: UUID,
    conversation: 'CODEX_THREAD_ID',
    keyed: true,
    valued: words(
      '-c --config -p --profile -s --sandbox -a --ask-for-approval -C --cd -i --image --add-dir --local-provider --remote --remote-auth-token-env --enable --disable --output-schema --color -o --output-last-message --listen',
    ),
  },
  opencode: {
    ...PLAIN,
    packages: ['opencode-ai'],
    session: ['--session', '-s'],
    forks: ['--fork'],
    id: /^ses_[A-Za-z0-9]{8,64}$/,
    valued: words(
      '--agent --prompt --port --hostname -f --file --title --attach --format --command --variant --log-level --password -p',
    ),
  },
  gemini: { ...PLAIN, packages: ['@google/gemini-cli'], id: UUID, valued: GEMINI },
  qwen: {
    ...PLAIN,
    packages: ['@qwen-code/qwen-code'],
    record: { variable: null, folder: '.qwen' },
    session: ['--resume', '-r', '--session-id'],
    id: UUID,
    valued: [...GEMINI, ...words('--input-file --system-prompt --append-system-prompt --auth-type')],
  },
  kimi: {
    ...PLAIN,
    session: ['--session', '-S'],
    valued: words('-p --prompt -w --work-dir --agent --agent-file --config'),
  },
  grok: { ...PLAIN, valued: words('-p --prompt --single --cwd --agent --output-format --permission-mode') },
  copilot: {
    ...PLAIN,
    packages: ['@github/copilot'],
    model: ['--model'],
    session: ['--resume'],
    id: UUID,
    valued: words(
      '-p --prompt -i --interactive --agent --add-dir --allow-tool --deny-tool --log-dir --log-level --additional-mcp-config',
    ),
  },
  'cursor-agent': {
    ...PLAIN,
    model: ['--model'],
    session: ['--resume'],
    id: UUID,
    valued: words('--output-format --workspace -a --api-key -H --header --mode'),
  },
  amp: { ...PLAIN, packages: ['@sourcegraph/amp', '@ampcode/cli'], model: [], session: [] },
  auggie: { ...PLAIN, packages: ['@augmentcode/auggie'], session: [] },
  cline: { ...PLAIN, packages: ['cline'], session: [] },
  crush: { ...PLAIN, packages: ['@charmland/crush'], session: ['--session', '-s'] },
  droid: { ...PLAIN, packages: ['droid'], session: ['--session-id', '-s'] },
  goose: { ...PLAIN, model: ['--model'], session: [] },
  aider: { ...PLAIN, model: ['--model'], session: [] },
}

export const CLIENTS: ReadonlyMap<string, Client> = new Map(Object.entries(TABLE))

/** The agent clients that are recognised unless the configuration names others. */
export const RECOGNISED_AGENTS: readonly string[] = [...CLIENTS.keys()]
