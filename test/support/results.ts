// What a suite of hard tests ran, as a small JSON file of one shape; the README's reliability table is made of these files.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, platform, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const FOLDER = join(import.meta.dir, '..', 'bench', 'results')
const PREFIX = 'hard-'

const strict = { additionalProperties: false }
const Count = Type.Integer({ minimum: 0 })

export const Result = Type.Object(
  {
    /** Lower case, unique: the file is `hard-<suite>.json`. */
    suite: Type.String({ pattern: '^[a-z0-9][a-z0-9-]*$' }),
    /** Group of the table's row, in the order of TOPICS. */
    topic: Type.Union([
      Type.Literal('law'),
      Type.Literal('faults'),
      Type.Literal('fuzz'),
      Type.Literal('limits'),
      Type.Literal('soak'),
      Type.Literal('upgrades'),
    ]),
    /** One line for the table: what was done to what. No vertical bar. */
    what: Type.String({ pattern: '^[^|\n]{10,160}$' }),
    /** How it is run again, as one would type it in the project's folder. */
    run: Type.String({ minLength: 1 }),
    at: Type.String({ format: 'date-time' }),
    seconds: Type.Number({ minimum: 0 }),
    machine: Type.Object({ cores: Count, memoryGb: Count, system: Type.String(), load: Type.Number() }, strict),
    /** How many cases, and what one of them is: "histories of 40 steps", "requests". */
    cases: Type.Object({ count: Count, what: Type.String({ minLength: 1 }) }, strict),
    /** Seeds of what was random, each enough to run that part again; empty where nothing was. */
    seeds: Type.Array(Type.Union([Type.Integer(), Type.String()])),
    /** What was done to it, and how often: {"kill -9": 20, "clock back": 7}. */
    faults: Type.Record(Type.String(), Count),
    /** Under which load, in words: "64 connections, 5,000 sends/s"; null for none. */
    load: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
    /** What was acknowledged and not there afterwards. */
    lost: Count,
    /** What was let in, shown or done against a rule. */
    wrong: Count,
    /** Figures that a reader wants beside that, as they are to be shown: {"p99 of a send": "12 ms"}. */
    figures: Type.Record(Type.String(), Type.Union([Type.Number(), Type.String()])),
  },
  strict,
)
export type Result = Static<typeof Result>

/** What a suite says of itself; where and when it ran is added. `seconds` is how long. */
export type Report = Omit<Result, 'at' | 'machine'>

/**
 * Prints one line, and keeps the result as a file where `M4A_KEEP_RESULTS` is set: the long forms set it, so what CI runs in short
 * leaves the kept results alone.
 */
export function report(of: Report): void {
  const result: Result = { ...of, at: new Date().toISOString(), machine: machine() }
  const wrong = faultsOf(result)
  if (wrong.length > 0) throw new Error(`the result of ${of.suite} has not its shape: ${wrong.join('; ')}`)
  console.log(lineOf(result))
  if (!process.env.M4A_KEEP_RESULTS) return
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, `${PREFIX}${of.suite}.json`), `${JSON.stringify(result, null, 2)}\n`)
}

const machine = (): Result['machine'] => ({
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 2 ** 30),
  system: `${platform()} ${release()}, Bun ${Bun.version}`,
  load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
})

const lineOf = ({ suite, cases, seeds, faults, lost, wrong, seconds }: Result): string =>
  `${suite}: ${cases.count} ${cases.what}, seeds ${seeds.join(' ') || 'none'}, ${
    Object.entries(faults)
      .map(([name, count]) => `${count} × ${name}`)
      .join(', ') || 'no faults'
  }, lost ${lost}, wrong ${wrong}, ${seconds.toFixed(1)} s`

/** What is wrong with the shape of a result; nothing for a good one. */
export function faultsOf(result: unknown): string[] {
  const found = [...Value.Errors(Result, result)].filter(({ path }) => path !== '/at')
  return found.map(({ path, message }) => `${path || '/'}: ${message}`)
}

/** The kept results by file name. */
export const kept = (): { file: string; result: Result }[] =>
  readdirSync(FOLDER)
    .filter((file) => file.startsWith(PREFIX) && file.endsWith('.json'))
    .sort()
    .map((file) => ({ file, result: JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) }))
