// The evidence behind a caller for people: one step a line, in the order in which the mailbox goes.
import type { ExplainedProcess, Explanation } from '../wire/explain.ts'
import { clock } from './times.ts'

type Pairs = [string, string | null][]

/** `source`: where this command found its token. */
export function explainFacts(explain: Explanation, source: string): Pairs {
  const { connection, process, ancestors, forwarder, anchor, account, session, facts } = explain
  return [
    ['1 connection', connection.over === 'unix' ? connection.name : `${connection.over} ${connection.name}`],
    ['1 its holder', connection.proof],
    ['2 process', processText(process)],
    ['2 forwarder', forwarder],
    ...ancestors.map((one): [string, string] => ['3 above it', processText(one)]),
    ['4 stands for it', processText(anchor.process)],
    ['4 by the rule', `${anchor.rule}: ${anchor.because}`],
    ['5 token from', source],
    ['5 account', `${account.id}: ${account.token}`],
    ['6 session', session.id],
    ...session.made_of.map(({ name, value }): [string, string] => ['6 made of', `${name} ${value ?? '-'}`]),
    ['6 conversation', session.conversation],
    ...facts.map(({ name, value, source }): [string, string] => ['7 found', `${name} ${value} (${source})`]),
  ]
}

function processText({ pid, started_at_unix_ms, uid, exe, agent, session }: ExplainedProcess): string {
  const known = [agent === null ? null : `agent ${agent}`, session === null ? null : `session ${session}`]
  const parts = [`pid ${pid}`, `uid ${uid}`, exe ?? 'its program is hidden from us', ...known]
  // the start of another user's process is not told on every system
  parts.splice(
    1,
    0,
    started_at_unix_ms > 0 ? `since ${clock(new Date(started_at_unix_ms).toISOString())}` : 'start not told',
  )
  return parts.filter((part) => part !== null).join(', ')
}
