// What it costs to know who calls: with and without attestation on one connection, and for new connections and new processes.
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { HTTP, holds, post } from '../http.ts'
import type { Target } from '../load.ts'
import { openMailbox } from '../peers/mailbox.ts'
import { attestedDoor, bareDoor, crowd, strangerCall } from '../peers/peers.ts'
import { interleave, series } from '../rounds.ts'
import { quantile } from '../stats.ts'
import { asker } from '../wire.ts'

const CONNECTIONS = [1, 16]
/** Connections, and processes, for each figure; a quick run has a part of them, and so has a crowd. */
const CALLS = 400
const STRANGERS = 60
const QUICK_PART = 4
const CROWD_PART = 10

export async function benchAttest(bench: Bench): Promise<void> {
  const mailbox = await openMailbox(join(bench.folder, 'attest'))
  await mailbox.accounts(['caller'])
  const [attested, bare] = [await attestedDoor(), await bareDoor()]
  const request = post('/mail/whoami', mailbox.token('caller'), {})
  const http = { protocol: HTTP, next: () => request, good: holds('"address":{') }
  const targets: Target[] = [
    { name: 'mail4agent', ...mailbox, ...http },
    { name: 'bare door, attested', ...attested, ...http },
    { name: 'bare door', ...bare, ...http },
  ]
  const runs = await interleave(targets, CONNECTIONS, bench.plan)
  for (const { name } of targets)
    for (const c of CONNECTIONS) {
      bench.row('keep-alive', `${name}, c=${c}, p50`, 'us', series(runs, name, c, 'p50'))
      bench.row('keep-alive', `${name}, c=${c}, CPU`, 'us/req', series(runs, name, c, 'cpuUs'))
    }
  await benchContacts(bench, targets, request, bench.quick ? QUICK_PART : 1)
  // the search of all holders looks at every process: what it costs where there are many
  const many = bench.quick ? null : await crowd(bench.folder)
  if (many === null)
    bench.skip('attestation among 2,000 processes', bench.quick ? 'the full run has it' : 'gcc is not installed')
  else {
    await benchContacts(bench, targets, request, CROWD_PART, ' among 2,000 processes with 25,000 descriptors')
    await many.stop()
  }
  await Promise.all([mailbox.stop(), attested.stop(), bare.stop()])
}

/** Warm, a new connection of a process that is known, and the first one of a process that is not. */
async function benchContacts(
  bench: Bench,
  targets: readonly Target[],
  request: Buffer,
  part: number,
  where = '',
): Promise<void> {
  for (const { name, port } of targets) {
    const first: number[] = []
    const later: number[] = []
    for (let i = 0; i < CALLS / part; i++) {
      const line = await asker(port, HTTP)
      for (const took of [first, later]) {
        const start = performance.now()
        await line.ask(request)
        took.push((performance.now() - start) * 1000)
      }
      line.close()
    }
    const unknown: number[] = []
    for (let i = 0; i < STRANGERS / part; i++) unknown.push(await strangerCall(port, request))
    const all = [
      ['warm', later],
      ['new connection of a known process', first],
      ['unknown process', unknown],
    ] as const
    for (const [what, took] of all)
      for (const [label, q] of [
        ['p50', 0.5],
        ['p99', 0.99],
      ] as const)
        bench.row('contact', `${name}, ${what}${where}, ${label}`, 'us', [quantile(took, q)])
  }
}
