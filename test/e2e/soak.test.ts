// Long days in a short time: at full load memory, descriptors, files and latency stay where they are, and no letter is lost.
// `M4A_SOAK_SECONDS` makes it longer.
import { expect, test } from 'bun:test'
import { report } from '../support/results.ts'
import { Mailbox } from './support/mailbox.ts'
import { type Sample, Soak } from './support/soak.ts'

const SECONDS = Number(process.env.M4A_SOAK_SECONDS ?? 15)
/** Rounds of work with retention at the end of each; the first of them warm up. */
const ROUNDS = Math.max(6, Math.round(SECONDS / 10))
const MB = 2 ** 20

const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

test(
  'memory, descriptors, files and latency stay flat at full load',
  async () => {
    const began = performance.now()
    await using mailbox = await Mailbox.start()
    await using soak = await Soak.start(mailbox)
    const samples: Sample[] = []
    let removed = 0
    for (let round = 0; round < ROUNDS; round++) {
      await Bun.sleep((SECONDS * 1_000) / ROUNDS)
      removed += await soak.age()
      samples.push(await soak.sample())
    }
    const { lost } = await soak.end()
    // all readers have left: what they held has been given back
    const idle = await until(
      () => soak.sockets(),
      (count) => count < 20,
    )

    const third = Math.floor(ROUNDS / 3)
    const early = (of: keyof Sample) => middle(samples.slice(1, 1 + third).map((one) => one[of]))
    const late = (of: keyof Sample) => middle(samples.slice(-third).map((one) => one[of]))
    const course = (of: keyof Sample, show: (value: number) => string) => `${show(early(of))} → ${show(late(of))}`
    const mb = (bytes: number) => `${(bytes / MB).toFixed(0)} MB`
    report({
      suite: 'soak',
      topic: 'soak',
      what: 'letters, waits, doorbells, event streams, searches, clients that come and go, and retention, all at once',
      run: `M4A_SOAK_SECONDS=${SECONDS} M4A_KEEP_RESULTS=1 bun test --timeout 900000 test/e2e/soak.test.ts`,
      seconds: (performance.now() - began) / 1_000,
      cases: { count: soak.sent, what: 'letters sent, read and closed' },
      seeds: [],
      faults: { 'clients cut in a wait': soak.cut, 'retention passes': ROUNDS },
      load: `${soak.sent} sends, ${soak.woken} wakes, ${soak.bells} doorbells, ${soak.events} pieces of events, ${soak.searches} searches`,
      lost,
      wrong: 0,
      figures: {
        'removed by retention': removed,
        memory: course('rss', mb),
        connections: course('descriptors', String),
        files: course('files', mb),
        'p50 of a send': course('send', (ms) => `${ms.toFixed(1)} ms`),
        'sockets when all have left': idle,
      },
    })
    expect(lost).toBe(0)
    expect(removed).toBeGreaterThan(soak.sent / 4)
    expect(soak.woken).toBeGreaterThan(0)
    expect(soak.bells).toBeGreaterThan(0)
    expect(soak.events).toBeGreaterThan(0)
    expect(late('rss')).toBeLessThan(early('rss') * 1.5 + 64 * MB)
    expect(late('descriptors')).toBeLessThan(early('descriptors') + 60)
    expect(late('files')).toBeLessThan(early('files') * 2 + 32 * MB)
    expect(late('send')).toBeLessThan(early('send') * 10 + 100)
    expect(idle).toBeLessThan(20)
  },
  SECONDS * 1_000 + 300_000,
)

async function until(look: () => number, good: (value: number) => boolean): Promise<number> {
  for (const end = performance.now() + 60_000; ; await Bun.sleep(200)) {
    const value = look()
    if (good(value) || performance.now() > end) return value
  }
}
