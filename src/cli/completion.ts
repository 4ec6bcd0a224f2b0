// mail4agent completion: what a shell needs to complete commands and options, made from the commands themselves.
import { type Command, defineCommand, GLOBAL } from './command.ts'
import { loadAll } from './commands.ts'
import { TOPICS } from './help-topics.ts'
import { tokenNames } from './token-files.ts'
import { usage } from './usage.ts'

export const completion = defineCommand({
  name: 'completion',
  summary: 'completion for bash, zsh or fish',
  usage: '<bash | zsh | fish | accounts>',
  help: `Prints a script that teaches a shell to complete commands, options and the accounts that --as takes.

  bash:  mail4agent completion bash > ~/.local/share/bash-completion/completions/mail4agent
  zsh:   mail4agent completion zsh > "\${fpath[1]}/_mail4agent"
  fish:  mail4agent completion fish > ~/.config/fish/completions/mail4agent.fish

\`accounts\` prints the accounts whose token is here, one a line: the scripts ask for them.`,
  options: {},
  words: [1, 1],
  async run(context) {
    const shell = context.word(0, 'the shell')
    if (shell === 'accounts') {
      const accounts = tokenNames(context.place.dataDir)
      return context.show({ accounts }, () => accounts.map((name) => `${name}\n`).join(''))
    }
    const write = { bash, zsh, fish }[shell]
    if (write === undefined)
      throw usage(`no completion for ${JSON.stringify(shell.slice(0, 100))}`, 'there are bash, zsh, fish and accounts')
    const script = write(placesOf(await loadAll()))
    return context.show({ shell, script }, () => script)
  },
})

type Choice = { word: string; about: string }
/** What may follow the words `path` of a command: further words, or options. */
type Place = { path: string; choices: Choice[] }

function placesOf(commands: readonly Command[]): Place[] {
  const names = commands.flatMap((command) =>
    [command.name, ...(command.aliases ?? [])].map((name) => ({ name, command })),
  )
  const places = new Map<string, Map<string, string>>()
  const add = (path: string, word: string, about: string) => {
    const choices = places.get(path) ?? new Map<string, string>()
    places.set(path, choices)
    if (!choices.has(word)) choices.set(word, about)
  }
  for (const { name, command } of names) {
    const words = name.split(' ')
    words.forEach((word, at) => {
      add(words.slice(0, at).join(' '), word, at === words.length - 1 ? command.summary : `${word} commands`)
    })
    for (const [option, { help }] of Object.entries({ ...command.options, ...GLOBAL })) add(name, `--${option}`, help)
  }
  for (const shell of ['bash', 'zsh', 'fish']) add('completion', shell, `for ${shell}`)
  for (const topic of Object.keys(TOPICS)) add('help', topic, `about ${topic}`)
  return [...places].map(([path, choices]) => ({
    path,
    choices: [...choices].map(([word, about]) => ({ word, about })),
  }))
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The words of the command line that are part of a command's name, joined: the same few lines in each shell. */
function bash(places: readonly Place[]): string {
  const cases = places.map(
    ({ path, choices }) => `    ${quote(path)}) echo ${quote(choices.map((choice) => choice.word).join(' '))} ;;`,
  )
  return `# bash completion for mail4agent
_mail4agent_choices() {
  case "$1" in
${cases.join('\n')}
  esac
}
_mail4agent() {
  local path='' word next
  if [ "\${COMP_WORDS[COMP_CWORD-1]}" = --as ]; then
    COMPREPLY=($(compgen -W "$("\${COMP_WORDS[0]}" completion accounts 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
    return
  fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    [ -n "$(_mail4agent_choices "$next")" ] && path=$next
  done
  COMPREPLY=($(compgen -W "$(_mail4agent_choices "$path")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _mail4agent mail4agent
`
}

function zsh(places: readonly Place[]): string {
  const entry = ({ word, about }: Choice) => quote(`${word}:${about.replaceAll(':', '\\:')}`)
  const cases = places.map(({ path, choices }) => `    ${quote(path)}) choices=(${choices.map(entry).join(' ')}) ;;`)
  return `#compdef mail4agent
_mail4agent_choices() {
  choices=()
  case "$1" in
${cases.join('\n')}
  esac
}
_mail4agent() {
  local here='' word
  local -a choices
  if [[ \${words[CURRENT-1]} = --as ]]; then
    choices=(\${(f)"$(\${words[1]} completion accounts 2>/dev/null)"})
    compadd -a choices
    return
  fi
  for word in "\${(@)words[2,CURRENT-1]}"; do
    _mail4agent_choices "\${here:+$here }$word"
    (( $#choices )) && here="\${here:+$here }$word"
  done
  _mail4agent_choices "$here"
  _describe 'mail4agent' choices || _files
}
if [[ $funcstack[1] = _mail4agent ]]; then _mail4agent "$@"; else compdef _mail4agent mail4agent; fi
`
}

function fish(places: readonly Place[]): string {
  const paths = places.map(({ path }) => quote(path)).join(' ')
  const lines = places.flatMap(({ path, choices }) =>
    choices.map(({ word, about }) => {
      const takes = word === '--as' ? " -x -a '(mail4agent completion accounts 2>/dev/null)'" : ''
      const what = word.startsWith('--') ? `-l ${word.slice(2)}${takes}` : `-f -a ${word}`
      return `complete -c mail4agent -n ${quote(`__mail4agent_at ${quote(path)}`)} ${what} -d ${quote(about)}`
    }),
  )
  return `# fish completion for mail4agent
function __mail4agent_at
    set -l here ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$here $word")
        contains -- $next ${paths}; and set here $next
    end
    test "$here" = "$argv[1]"
end
${lines.join('\n')}
`
}
