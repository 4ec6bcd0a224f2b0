// What is known of each agent client: its packages, the options of its command line, how it names a session. Data, no behaviour.

export type Client = {
  /** npm packages whose scripts are this client. */
  packages: readonly string[]
  /** What else its process calls itself. */
  names?: readonly string[]
  /** Options whose value is the model. */
  model: readonly string[]
  /** Variables of its environment that name the model where no option does, the first one first. */
  modelFrom?: readonly string[]
  /** Options whose value is the session to go on with. */
  session: readonly string[]
  /** Commands whose next word is the session to go on with, such as `resume ID` and `exec resume ID`. */
  resume: readonly (readonly string[])[]
  /** Other options that take a value: that value is never read as an option, whatever it looks like. */
  valued: readonly string[]
  /** Options that take every word up to the next option. */
  many?: readonly string[]
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

/** Whose options we do not know: nothing is read out of its arguments, because any of them may be somebody's text. */
const UNREAD: Client = { ...PLAIN, model: [], session: [] }

/** Of a list of words separated by spaces, for tables that would be very tall otherwise. */
const words = (text: string): string[] => text.split(' ')

const GEMINI = words(
  '-p --prompt -i --prompt-interactive --approval-mode -e --extensions --include-directories -o --output-format --policy --admin-policy --allowed-tools --allowed-mcp-server-names --session-file --delete-session',
)

const TABLE: Readonly<Record<string, Client>> = {
  claude: {
    ...PLAIN,
    packages: ['@anthropic-ai/claude-code'],
    model: ['--model'],
    modelFrom: ['ANTHROPIC_MODEL'],
    session: ['--resume', '-r', '--session-id'],
    forks: ['--fork-session'],
    id: UUID,
    conversation: 'CLAUDE_CODE_SESSION_ID',
    record: { variable: 'CLAUDE_CONFIG_DIR', folder: '.claude' },
    valued: words(
      '--system-prompt --system-prompt-file --append-system-prompt --append-system-prompt-file --allowedTools --allowed-tools --disallowedTools --disallowed-tools --tools --mcp-config --permission-mode --permission-prompt-tool --fallback-model --settings --setting-sources --add-dir --agents --agent --input-format --output-format --max-turns --max-budget-usd --json-schema --plugin-dir --plugin-url --debug-file --betas --effort --channels --name -n --autocompact --environment --file --permission-prompts --remote-control-session-name-prefix --system-prompt-snapshot',
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
      '-c --config -p --profile -s --sandbox -a --ask-for-approval -C --cd --add-dir --local-provider --remote --remote-auth-token-env --enable --disable --thread-source --cyber-access-program --output-schema --color -o --output-last-message --listen',
    ),
    many: ['-i', '--image'],
  },
  opencode: {
    ...PLAIN,
    packages: ['opencode-ai'],
    session: ['--session', '-s'],
    forks: ['--fork'],
    id: /^ses_[A-Za-z0-9]{8,64}$/,
    valued: words(
      '--agent --prompt --port --hostname -f --file --title --attach --format --command --variant --log-level --password -p --username -u --dir --mdns-domain --cors --replay-limit',
    ),
  },
  gemini: {
    ...PLAIN,
    packages: ['@google/gemini-cli'],
    modelFrom: ['GEMINI_MODEL'],
    session: ['--resume', '-r', '--session-id'],
    id: UUID,
    valued: GEMINI,
  },
  qwen: {
    ...PLAIN,
    packages: ['@qwen-code/qwen-code'],
    record: { variable: null, folder: '.qwen' },
    modelFrom: ['OPENAI_MODEL', 'QWEN_MODEL'],
    session: ['--resume', '-r', '--session-id'],
    forks: ['--fork-session'],
    id: UUID,
    valued: [
      ...GEMINI,
      ...words(
        '--input-file --input-format --system-prompt --append-system-prompt --output-style --auth-type --fallback-model --proxy --sandbox-image --channel --mcp-config --add-dir --openai-logging-dir --openai-api-key --openai-base-url --json-fd --json-file --json-schema --max-session-turns --max-wall-time --max-tool-calls --max-subagent-depth --core-tools --exclude-tools --disabled-slash-commands --telemetry-target --telemetry-otlp-endpoint --telemetry-otlp-protocol --telemetry-outfile',
      ),
    ],
  },
  kimi: {
    ...PLAIN,
    packages: ['@moonshot-ai/kimi-code'],
    // it writes its title over its arguments, so that they cannot be read any more
    names: ['kimi-code'],
    modelFrom: ['KIMI_MODEL_NAME'],
    session: ['--session', '-S'],
    valued: words('-p --prompt -w --work-dir --agent --agent-file --config --output-format --skills-dir --add-dir'),
  },
  grok: {
    ...PLAIN,
    packages: ['@xai-official/grok'],
    modelFrom: ['GROK_DEFAULT_MODEL'],
    session: ['--resume', '-r', '--session-id', '-s'],
    forks: ['--fork-session'],
    id: UUID,
    valued: words(
      '-p --prompt --single --prompt-file --prompt-json --cwd --agent --agents --output-format --permission-mode --allow --allowedTools --deny --disallowedTools --disallowed-tools --tools --debug-file --json-schema --leader-socket --max-turns --reasoning-effort --effort --rules --sandbox --system-prompt --system-prompt-override --worktree-ref --ref',
    ),
  },
  copilot: {
    ...PLAIN,
    packages: ['@github/copilot'],
    model: ['--model'],
    modelFrom: ['COPILOT_MODEL'],
    session: ['--resume', '-r', '--session-id'],
    id: UUID,
    valued: words(
      '-p --prompt -i --interactive --agent -n --name -C --add-dir --attachment --log-dir --log-level --additional-mcp-config --mcp-github-auth --reasoning-effort --context --auto-tier --extension-sdk-path --stream --output-format --disable-mcp-server --enable-mcp-server --add-github-mcp-toolset --add-github-mcp-tool --plugin-dir --max-autopilot-continues --mode --environment-host --environment-compute-id --dynamic-retrieval --max-ai-credits',
    ),
  },
  'cursor-agent': {
    ...PLAIN,
    model: ['--model'],
    session: ['--resume'],
    id: UUID,
    valued: words('--output-format --workspace -a --api-key -H --header --mode'),
  },
  amp: { ...UNREAD, packages: ['@sourcegraph/amp', '@ampcode/cli'] },
  auggie: { ...UNREAD, packages: ['@augmentcode/auggie'] },
  cline: { ...UNREAD, packages: ['cline'] },
  crush: { ...UNREAD, packages: ['@charmland/crush'] },
  droid: { ...UNREAD, packages: ['droid'] },
  goose: UNREAD,
  aider: UNREAD,
}

export const CLIENTS: ReadonlyMap<string, Client> = new Map(Object.entries(TABLE))

/** The agent clients that are recognised unless the configuration names others. */
export const RECOGNISED_AGENTS: readonly string[] = [...CLIENTS.keys()]
