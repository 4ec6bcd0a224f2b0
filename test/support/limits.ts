// The README's table of limits, made from the limits themselves.
import { LIMITS as L } from '../../src/wire/limits.ts'

const BEGIN = '<!-- limits: made by UPDATE_GOLDEN=1 npm test -->'
const END = '<!-- end of limits -->'

const n = (value: number): string => value.toLocaleString('en')
const mib = (bytes: number): string => `${n(bytes / 2 ** 20)} MiB`

/** What is limited, how much, and what is answered above it. */
const ROWS: readonly (readonly [string, string, string])[] = [
  ['messages an account sends', `${n(L.accountRate)} a second, bursts of ${n(L.accountBurst)}`, '`rate_limited`'],
  [
    'bytes of their bodies',
    `${mib(L.accountBytesRate)} a second, bursts of ${mib(L.accountBytesBurst)}`,
    '`rate_limited`',
  ],
  [
    'messages from one account to another that wake or ring',
    `${L.pairPerMinute} a minute, bursts of ${L.pairBurst}`,
    'stored, and nobody is woken (`wake_suppressed`)',
  ],
  ['calls of an account at work at once', n(L.callsAtOnce), 'the others wait for their turn, in their order'],
  ['calls of an account that wait for their turn', n(L.callsWaiting), '`too_many`'],
  ['waits of an account that are parked, and of all', `${n(L.waitsAccount)}; ${n(L.waitsAll)}`, '`too_many`'],
  ['readers of `/events` of an account, and of all', `${n(L.eventsAccount)}; ${n(L.eventsAll)}`, '`too_many`'],
  [
    'open connections of an account, and of all',
    `${n(L.connectionsAccount)}; ${n(L.connectionsAll)}`,
    '`too_many`, and the connection is closed',
  ],
  [
    'calls without a valid token, of all together',
    `${L.unknownRate} a second, bursts of ${L.unknownBurst}`,
    '`rate_limited`, and the connection is closed; calls with a valid token are not affected',
  ],
  ['live sessions of an account', n(L.sessionsAccount), '`too_many`'],
  ['a hop of a thread', `${L.hopMax}; above ${L.hopQuiet} nobody is woken`, '`hop_limit`'],
  ['writes that wait for the disk', '10,000', '`busy`'],
  ['bytes of a body, a subject, a request', `${n(L.body)}; ${n(L.subject)}; ${n(L.request)}`, '`too_large`'],
  ['recipients of a message', n(L.recipients), '`too_large`'],
  ['bytes of a list, and of one for a model', `${n(L.budgetDefault)}; ${n(L.budgetMcp)}`, 'a cursor and `has_more`'],
  ['seconds of a wait over HTTP, over MCP', `${L.waitHttp}; ${L.waitMcp}`, 'shortened, and said (`waited_secs`)'],
]

export const limitsTable = (): string =>
  ['| what | how much | above it |', '|---|---|---|', ...ROWS.map((cells) => `| ${cells.join(' | ')} |`)].join('\n')

/** The table as it stands in the README, or null where its marks are not there. */
export function limitsIn(readme: string): string | null {
  const [from, to] = [readme.indexOf(BEGIN), readme.indexOf(END)]
  return from < 0 || to < from ? null : readme.slice(from + BEGIN.length, to).trim()
}

/** The README with that table in its place. */
export const withLimits = (readme: string): string =>
  `${readme.slice(0, readme.indexOf(BEGIN) + BEGIN.length)}\n${limitsTable()}\n${readme.slice(readme.indexOf(END))}`
