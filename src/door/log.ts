// The daemon's log: logfmt for a service, short lines for a person at a terminal. Never a secret, never a body.

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type Level = (typeof LEVELS)[number]
export type LogFacts = Record<string, string | number | boolean | null | undefined>

export type Log = Record<Level, (message: string, facts?: LogFacts) => void>

export type LogOptions = {
  /** The lowest level that is written. */
  level: Level
  /** true: for a person; false: one logfmt line each. */
  human: boolean
  /** The level in front of each line as the journal takes it, `<6>`: sd-daemon(3). */
  journal: boolean
  /** Takes a whole line with its line break. */
  write: (line: string) => void
}

/** A log that writes to `options.write`; by default to stderr, for a person when that is a terminal. */
export function openLog(options: Partial<LogOptions> = {}): Log {
  const human = options.human ?? process.stderr.isTTY === true
  const write = options.write ?? ((line: string) => void process.stderr.write(line))
  const from = LEVELS.indexOf(options.level ?? 'info')
  const prefix = (level: Level) => (options.journal ? `<${PRIORITY[level]}>` : '')
  const at =
    (level: Level) =>
    (message: string, facts: LogFacts = {}) => {
      if (LEVELS.indexOf(level) < from) return
      write(prefix(level) + (human ? forPerson(level, message, facts) : logfmt(level, message, facts)))
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** syslog(3). */
const PRIORITY = { debug: 7, info: 6, warn: 4, error: 3 } as const satisfies Record<Level, number>

const logfmt = (level: Level, message: string, facts: LogFacts): string =>
  `time=${new Date().toISOString()} level=${level} msg=${quoted(message)}${pairs(facts)}\n`

const forPerson = (level: Level, message: string, facts: LogFacts): string =>
  `${new Date().toTimeString().slice(0, 8)} ${level === 'info' ? '' : `${level}: `}${plain(message)}${pairs(facts)}\n`

const pairs = (facts: LogFacts): string =>
  Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${quoted(String(value))}`)
    .join('')

/** A value that could be read as more than one is quoted, control characters and all, so that no value forges a line. */
const quoted = (text: string): string => (/^[^\s"=\p{Cc}]+$/u.test(text) ? text : JSON.stringify(text))

const plain = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ')
