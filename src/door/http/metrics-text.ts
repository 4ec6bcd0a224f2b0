// GET /metrics: the counts, the store and the process as Prometheus text, for operators.
import type { Caller, Mail } from '../../engine/mail.ts'
import { OUTCOMES } from '../../store/dispatch/rows.ts'
import { denied } from '../../wire/refusal.ts'
import { VERSION } from '../version.ts'
import type { Door } from './door.ts'
import { provable } from './health.ts'
import { BOUNDS, type Series } from './metrics.ts'
import { headers } from './reply.ts'

/** @throws Refusal `permission_denied` for who is no operator */
export function metricsAnswer(door: Door, caller: Caller, request: Request): Response {
  if (!caller.account.can.operator) throw denied('operator')
  const type = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
  return new Response(metricsText(door), { headers: headers(request, type) })
}

/** Prometheus text exposition format 0.0.4. */
export function metricsText({ mail, health, metrics, waiting }: Door): string {
  const stats = mail.store.stats()
  const uptime = (mail.now() - health.startedAt) / 1000
  return [
    one('m4a_build_info', 'gauge', 'the running version', `{version="${VERSION}",sqlite="${stats.sqlite}"}`, 1),
    one('m4a_uptime_seconds', 'gauge', 'seconds since the start', '', uptime),
    one('m4a_attestation_up', 'gauge', 'whether callers can be proved', '', provable(health).ok ? 1 : 0),
    one('m4a_store_up', 'gauge', 'whether the store can be written', '', mail.store.fault === null ? 1 : 0),
    ...requests([...metrics.all()]),
    one('m4a_waiting_readers', 'gauge', 'readers parked in a wait', '', waiting()),
    ...notifications(mail.desktop.counts),
    ...dispatches(mail),
    one('m4a_live_sessions', 'gauge', 'sessions that have not ended', '', mail.store.registry.liveSessions().length),
    one('m4a_accounts', 'gauge', 'accounts', '', stats.accounts),
    one('m4a_messages', 'gauge', 'messages kept', '', stats.messages),
    one('m4a_write_queue', 'gauge', 'writes that wait for a commit', '', stats.queued),
    one('m4a_commits_total', 'counter', 'transactions committed', '', stats.commits),
    one('m4a_committed_writes_total', 'counter', 'writes in those transactions', '', stats.committed),
    one('m4a_store_bytes', 'gauge', 'size of the database file', '', stats.fileBytes),
    one('m4a_store_wal_bytes', 'gauge', 'size of its write-ahead log', '', stats.walBytes),
    one('m4a_resident_bytes', 'gauge', 'memory of the process', '', process.memoryUsage.rss()),
  ].join('')
}

const head = (name: string, type: string, help: string): string => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`

const one = (name: string, type: string, help: string, labels: string, value: number): string =>
  `${head(name, type, help)}${name}${labels} ${value}\n`

const notifications = (counts: { shown: number; failed: number }): string[] => [
  head('m4a_notifications_total', 'counter', 'desktop notifications by outcome'),
  ...Object.entries(counts).map(([outcome, count]) => `m4a_notifications_total{outcome="${outcome}"} ${count}\n`),
]

function dispatches({ store: { dispatches } }: Mail): string[] {
  const open = dispatches.open()
  const queued = open.filter(({ state }) => state === 'queued').length
  return [
    head('m4a_dispatches', 'gauge', 'dispatches that are not done, by state'),
    `m4a_dispatches{state="queued"} ${queued}\n`,
    `m4a_dispatches{state="running"} ${open.length - queued}\n`,
    head('m4a_dispatches_total', 'counter', 'dispatches that are done, by outcome'),
    ...OUTCOMES.map((name) => `m4a_dispatches_total{outcome="${name}"} ${dispatches.outcomes().get(name) ?? 0}\n`),
  ]
}

/** Names and outcomes come from our own tables: nothing in a label needs escaping. */
function requests(all: Series[]): string[] {
  const labels = ({ operation, door }: Series) => `operation="${operation}",door="${door}"`
  return [
    head('m4a_requests_total', 'counter', 'calls by operation, door and outcome (ok or the kind of refusal)'),
    ...all.flatMap((series) =>
      [...series.outcomes].map(
        ([outcome, count]) => `m4a_requests_total{${labels(series)},outcome="${outcome}"} ${count}\n`,
      ),
    ),
    head('m4a_request_seconds', 'histogram', 'time to the answer, waits included'),
    ...all.map((series) => histogram(`m4a_request_seconds`, labels(series), series)),
  ]
}

function histogram(name: string, labels: string, { buckets, sum }: Series): string {
  let count = 0
  const lines = buckets.map((inBucket, index) => {
    count += inBucket
    return `${name}_bucket{${labels},le="${BOUNDS[index] ?? '+Inf'}"} ${count}\n`
  })
  return `${lines.join('')}${name}_sum{${labels}} ${sum}\n${name}_count{${labels}} ${count}\n`
}
