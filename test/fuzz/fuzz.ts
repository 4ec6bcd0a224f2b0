// The loop: every entry of the corpus, then changes of them; what ends in a new way is changed further. A finding is an input after
// which a reader threw what it does not name, took too long, or broke its law.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Random } from '../support/random.ts'
import { mutate, mutateJson } from './mutate.ts'
import type { Target } from './targets.ts'

const CORPUS = join(import.meta.dir, 'corpus')
/** Milliseconds for one input, however busy the machine is. */
const LONGEST = 5_000
/** Entries that are changed further: the newest push out the oldest. */
const POOL = 400

export type Finding = { target: string; why: string; input: Buffer }
/** `fresh`: inputs that ended in a way which none before them had. */
export type Fuzzed = { inputs: number; ways: number; findings: Finding[]; fresh: Buffer[] }

/** Kept inputs of a target, its seeds included; those that once were findings are tried first of all for ever. */
export function corpusOf(name: string): Buffer[] {
  const folder = join(CORPUS, name)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .sort()
    .map((file) => readFileSync(join(folder, file)))
}

export function keep({ target, input }: Pick<Finding, 'target' | 'input'>, as = 'finding'): string {
  const path = join(CORPUS, target, `${as}-${Bun.hash(input).toString(16).slice(0, 8)}`)
  mkdirSync(join(CORPUS, target), { recursive: true })
  writeFileSync(path, input)
  return path
}

/** At least the corpus, then changes of it for `ms`. */
export async function fuzz(name: string, target: Target, seed: number, ms: number): Promise<Fuzzed> {
  const random = new Random(seed)
  const pool = [...corpusOf(name), ...target.seeds.map((one) => Buffer.from(one))]
  const ways = new Set<string>()
  const findings: Finding[] = []
  const fresh: Buffer[] = []
  let inputs = 0
  const one = async (input: Buffer): Promise<void> => {
    inputs++
    const began = performance.now()
    const way = await outcome(target, input)
    const took = performance.now() - began
    if (Object.keys(Object.prototype).length > 0) throw new Error('the prototype of all objects was changed')
    const why = took > LONGEST ? `took ${Math.round(took)} ms` : way.startsWith('!') ? way.slice(1) : null
    if (why !== null && findings.length < 20 && !findings.some((known) => known.why === why))
      findings.push({ target: name, why, input: Buffer.from(input) })
    if (ways.has(way)) return
    ways.add(way)
    fresh.push(Buffer.from(input))
    if (pool.push(Buffer.from(input)) > POOL) pool.shift()
  }
  for (const input of [...pool]) await one(input)
  for (const end = performance.now() + ms; performance.now() < end; ) {
    const parent = random.pick(pool)
    await one(
      target.json && random.below(3) > 0 ? changedJson(random, parent) : mutate(random, parent, random.pick(pool)),
    )
  }
  return { inputs, ways: ways.size, findings, fresh }
}

function changedJson(random: Random, parent: Buffer): Buffer {
  try {
    return Buffer.from(JSON.stringify(mutateJson(random, JSON.parse(parent.toString()))) ?? '')
  } catch {
    return mutate(random, parent, parent)
  }
}

/** In few words how it ended: `!` in front of what must not be. Stands in for coverage: other words, another path. */
async function outcome(target: Target, input: Buffer): Promise<string> {
  try {
    return `ok ${plain(String(await target.run(input)))}`
  } catch (error) {
    if (error instanceof Broken) return `!${error.message}`
    if (error instanceof SyntaxError && target.refuses(error)) return 'no JSON'
    if (error instanceof Error && target.refuses(error))
      return `refused ${'kind' in error ? error.kind : plain(error.message).slice(0, 24)}`
    return `!threw ${error instanceof Error ? `${error.name}: ${plain(error.message)}` : 'no error'}`
  }
}

const plain = (text: string): string => text.replaceAll(/\d+|"[^"]*"|'[^']*'/g, '#').slice(0, 60)

/** A law of a reader that does not hold. */
export class Broken extends Error {}

export function law(holds: boolean, what: string): void {
  if (!holds) throw new Broken(what)
}
