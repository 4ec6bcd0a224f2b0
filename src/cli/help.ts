// mail4agent help: the list of commands, and what each does.
import { type Command, defineCommand, GLOBAL, type Options } from './command.ts'
import { COMMAND_NAMES, loadAll, loadCommand } from './commands.ts'
import { TOPICS } from './help-topics.ts'
import type { Paint } from './paint.ts'
import { nearest, usage } from './usage.ts'

const GUIDE = `Set everything up:   mail4agent up
Start the mailbox:   mail4agent serve
Make an account:     mail4agent admin account add claude
Write:               mail4agent send codex "hello"
Read and answer:     mail4agent inbox; mail4agent view latest; mail4agent reply <id> "done"

Which account: --as, M4A_TOKEN_FILE, M4A_TOKEN, M4A_ACCOUNT, the agent that runs the command, a .mail4agent file in the
folder or above it, your own that up has made, the only account there is. More: mail4agent help accounts
Exit codes: 0 done, 1 refused, 2 wrong usage, 3 no mailbox runs, 4 the time of a wait is over.`

export const help = defineCommand({
  name: 'help',
  summary: 'explain a command',
  usage: '[<command> | accounts | json]',
  help: `Explains a command, or lists them all. \`accounts\` explains as which account a command acts, \`json\` what --json prints.

  mail4agent help
  mail4agent help send
  mail4agent help admin account add
  mail4agent help accounts
  mail4agent help json`,
  options: {},
  words: [0, 3],
  async run(context) {
    const name = context.words.join(' ')
    const { paint } = context
    if (COMMAND_NAMES.includes(name)) {
      const command = await loadCommand(name)
      return context.show(described(command), () => explain(command, paint))
    }
    const topic = Object.hasOwn(TOPICS, name) ? TOPICS[name] : undefined
    if (topic !== undefined)
      return context.show({ name, ...topic }, () => `${paint('bold', topic.title)}\n\n${topic.text}\n`)
    const chosen = (await loadAll()).filter((command) => name === '' || command.name.startsWith(`${name} `))
    if (chosen.length === 0) {
      const meant = nearest(name, [...COMMAND_NAMES, ...Object.keys(TOPICS)])
      throw usage(
        `no command ${JSON.stringify(name.slice(0, 100))}`,
        meant ? `did you mean: mail4agent help ${meant}` : undefined,
      )
    }
    const title = name === '' ? 'mail4agent: a mailbox for agent sessions' : `mail4agent ${name}`
    return context.show(chosen.map(described), () => {
      const list = `${paint('bold', title)}\n\n${commandList(name === '' ? withGroupsAsOne(chosen) : chosen)}`
      return name === '' ? `${list}\n${GUIDE}\n` : `${list}\nmail4agent help ${name} <command> explains one.\n`
    })
  },
})

const described = ({ name, aliases = [], summary, usage, options }: Command) => ({
  name,
  aliases,
  summary,
  usage: `mail4agent ${name} ${usage}`.trimEnd(),
  options: Object.entries(options).map(([option, { short, value, help }]) => ({
    name: `--${option}`,
    short: short === undefined ? null : `-${short}`,
    value: value ?? null,
    help,
  })),
})

type Listed = Pick<Command, 'name' | 'aliases' | 'summary'>

/** Groups that take one line of the whole list. */
const GROUPS: Readonly<Record<string, string>> = {
  dispatch: 'wake, status, show, watch, logs, stop, pause, resume; see: mail4agent help dispatch <command>',
  agent: 'agents that can be started; see: mail4agent help agent',
  chat: 'Matrix rooms: list, read, send, reply and more; see: mail4agent help chat',
  admin: 'accounts, rooms, listeners, orphaned mail, backups, retention; see: mail4agent help admin',
}

function withGroupsAsOne(commands: readonly Command[]): Listed[] {
  const shown = new Set<string>()
  return commands.flatMap((command) => {
    const [group = '', ...more] = command.name.split(' ')
    const summary = more.length > 0 && Object.hasOwn(GROUPS, group) ? GROUPS[group] : undefined
    if (summary === undefined) return [command]
    const line = { name: `${group} …`, summary }
    const isFirst = !shown.has(group)
    shown.add(group)
    return isFirst ? [line] : []
  })
}

function commandList(commands: readonly Listed[]): string {
  const names = commands.map(({ name, aliases }) => [name, ...(aliases ?? [])].join(', '))
  const width = Math.max(...names.map((name) => name.length))
  return commands.map(({ summary }, at) => `  ${(names[at] ?? '').padEnd(width)}  ${summary}\n`).join('')
}

/** Usage, teaching text, options: as `help <command>` and `<command> --help` print it. */
function explain(command: Command, paint: Paint): string {
  const own = optionLines(command.options)
  return [
    `${paint('bold', `mail4agent ${command.name}`)}: ${command.summary}`,
    `usage: mail4agent ${command.name} ${command.usage}`.trimEnd(),
    command.help,
    ...(own === '' ? [] : [`${paint('bold', 'options')}\n${own}`]),
    `${paint('bold', 'options of every command')}\n${optionLines(GLOBAL)}`,
  ]
    .join('\n\n')
    .concat('\n')
}

function optionLines(options: Options): string {
  const rows = Object.entries(options).map(([name, { short, value, help }]) => {
    const names = `${short === undefined ? '    ' : `-${short}, `}--${name}`
    return [value === undefined ? names : `${names} ${value}`, help] as const
  })
  const width = Math.max(0, ...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')
}
