// Durable sends at 1, 16 and 64 connections beside the bare door, the disk itself and Redis; then: is every one there?
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { HTTP, holds, post } from '../http.ts'
import { BODY, RECIPIENTS, SENDERS, sends, turns, xadds } from '../letters.ts'
import type { Measured, Target } from '../load.ts'
import { NATS, publishes, stored } from '../nats.ts'
import { openMailbox } from '../peers/mailbox.ts'
import { bareDoor, claudePeers, diskLimit, natsUnsynced, redisAlways } from '../peers/peers.ts'
import { rssMb } from '../proc.ts'
import { accepted, RESP } from '../resp.ts'
import { interleave, type Runs, series } from '../rounds.ts'
import { ratios } from '../stats.ts'
import { messageCount } from '../storage.ts'

const CONNECTIONS = [1, 16, 64]

export async function benchSend(bench: Bench): Promise<void> {
  const mailbox = await openMailbox(join(bench.folder, 'send'))
  const senders = Array.from({ length: SENDERS }, (_, i) => `sender-${i}`)
  await mailbox.accounts([...senders, ...Array.from({ length: RECIPIENTS }, (_, i) => `box-${i}`)])
  const next = sends((sender) => mailbox.token(`sender-${sender}`))
  const http = { protocol: HTTP, next, good: holds('"message_id":"m4a_') }
  const door = await bareDoor()
  const disk = await diskLimit(bench.folder)
  const redis = await redisAlways(bench.folder)
  const nats = await natsUnsynced(bench.folder)
  const peers = await claudePeers(bench.folder, bench.peers, 40)
  if (!nats) bench.skip('NATS JetStream, unsynced', 'nats-server is not installed')
  if (!peers) bench.skip('claude-peers', 'no checkout was given with --claude-peers')
  if (!disk) bench.skip('the disk itself (C)', 'gcc is not installed')
  if (!redis) bench.skip('Redis, appendfsync always', 'redis-server is not installed')

  const targets: Target[] = [
    { name: 'mail4agent', ...mailbox, ...http },
    { name: 'bare door, no storage', ...door, ...http },
    ...(disk ? [{ name: 'disk itself (C)', ...disk, ...http, good: holds('{"id":') }] : []),
    ...(redis ? [{ name: 'Redis always', ...redis, protocol: RESP, next: xadds(), good: accepted }] : []),
    ...(nats ? [{ name: 'NATS, unsynced', ...nats, protocol: NATS, next: publishes(), good: stored }] : []),
    // it answers 200 with `ok: false` to a sender that it takes for ended
    ...(peers
      ? [{ name: 'claude-peers', ...peers, ...http, next: peerSends(peers.ids), good: holds('"ok":true') }]
      : []),
  ]
  let acknowledged = 0
  const runs = await interleave(targets, CONNECTIONS, bench.plan, (target) => {
    if (target.name === 'mail4agent') acknowledged++
  })

  for (const { name } of targets) report(bench, runs, name)
  hold(bench, runs)
  bench.hold('rssLoaded', [rssMb(mailbox.pid)])
  const rows = messageCount(mailbox.dataDir)
  bench.honest('stored messages = acknowledged sends', rows === acknowledged, `${rows} of ${acknowledged}`)
  await Promise.all([mailbox.stop(), door.stop(), disk?.stop(), redis?.stop(), nats?.stop(), peers?.stop()])
}

const peerSends = (ids: readonly string[]): (() => Buffer) =>
  turns((turn) => post('/send-message', '-', { from_id: ids[0], to_id: ids[turn % ids.length], text: BODY }))

function report(bench: Bench, runs: Runs, name: string): void {
  for (const c of CONNECTIONS) {
    const figure = (key: keyof Measured) => series(runs, name, c, key)
    bench.row('send', `${name}, c=${c}`, '/s', figure('perSecond'))
    bench.row('send', `${name}, c=${c}, p50`, 'us', figure('p50'))
    bench.row('send', `${name}, c=${c}, p99`, 'us', figure('p99'))
    bench.row('send', `${name}, c=${c}, CPU`, 'us/req', figure('cpuUs'))
  }
}

function hold(bench: Bench, runs: Runs): void {
  const rate = (name: string, c: number) => series(runs, name, c, 'perSecond')
  const ours = (c: number) => rate('mail4agent', c)
  bench.hold('sendRedis16', ratios(ours(16), rate('Redis always', 16)))
  bench.hold('sendRedis64', ratios(ours(64), rate('Redis always', 64)))
  bench.hold('sendNats16', ratios(ours(16), rate('NATS, unsynced', 16)))
  bench.hold('sendNats64', ratios(ours(64), rate('NATS, unsynced', 64)))
  bench.hold('sendPeers16', ratios(ours(16), rate('claude-peers', 16)))
  bench.hold('sendPeers64', ratios(ours(64), rate('claude-peers', 64)))
  bench.hold('sendDiskP50', ratios(series(runs, 'mail4agent', 1, 'p50'), series(runs, 'disk itself (C)', 1, 'p50')))
  bench.hold('sendDisk16', ratios(ours(16), rate('disk itself (C)', 16)))
  bench.hold('sendDisk64', ratios(ours(64), rate('disk itself (C)', 64)))
  bench.hold('groupCommit', ratios(ours(64), ours(1)))
}
