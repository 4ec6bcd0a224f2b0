// Programs of earlier schemas, built from their commits, write a store each; today's opens it with all mail, states, keys and cursors.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Kept } from '../e2e/support/kept.ts'
import { Mailbox } from '../e2e/support/mailbox.ts'
import { report } from '../support/results.ts'

const ROOT = join(import.meta.dir, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'm4a-old-'))
const began = performance.now()

const run = (argv: string[], cwd: string): Buffer => {
  const done = Bun.spawnSync(argv, { cwd, maxBuffer: 2 ** 28 })
  if (!done.success) throw new Error(`${argv.join(' ')}: ${done.stderr}`)
  return done.stdout
}

/** The commits of each schema, the first one first. */
async function commits(): Promise<Map<number, string[]>> {
  const found = new Map<number, string[]>()
  const sizes = new Map<string, number>()
  const log = String(run(['git', 'log', '--reverse', '--first-parent', '--format=%H'], ROOT))
  for (const commit of log.trim().split('\n')) {
    const listed = String(run(['git', 'ls-tree', commit, 'src/store/schema.ts'], ROOT))
    const blob = listed.split(/\s/)[2]
    if (!blob) continue
    const size = sizes.get(blob) ?? (await schemaOf(blob))
    sizes.set(blob, size)
    found.set(size, [...(found.get(size) ?? []), commit])
  }
  return found
}

async function schemaOf(blob: string): Promise<number> {
  const file = join(folder, `schema-${blob}.ts`)
  writeFileSync(file, run(['git', 'cat-file', 'blob', blob], ROOT))
  const { MIGRATIONS } = (await import(file)) as { MIGRATIONS: readonly string[] }
  return MIGRATIONS.length
}

/** Not every commit has all that it takes. */
function firstBuilt(all: readonly string[]): { program: string; commit: string } {
  for (const commit of all)
    try {
      return { program: build(commit), commit }
    } catch (error) {
      console.log(`${commit.slice(0, 7)} does not build: ${String(error).split('\n')[0]}`)
    }
  throw new Error('none of its commits builds')
}

function build(commit: string): string {
  const tree = join(folder, commit)
  mkdirSync(tree)
  writeFileSync(join(folder, 'tree.tar'), run(['git', 'archive', commit], ROOT))
  run(['tar', '-xf', join(folder, 'tree.tar')], tree)
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  run([process.execPath, 'run', 'build.ts'], tree)
  return join(tree, 'dist', 'mail4agent')
}

function firstDifference(one: string, other: string): string {
  let at = 0
  while (one[at] === other[at]) at++
  return `${one.slice(at - 200, at + 200)}\nis now\n${other.slice(at - 200, at + 200)}`
}

/** What every one of them had. */
const LISTS = ['inbox', 'sent', 'unread']

const opened: number[] = []
try {
  for (const [schema, all] of await commits()) {
    const { program, commit } = firstBuilt(all)
    await using mailbox = new Mailbox()
    await mailbox.up({}, program)
    const kept = await Kept.write(mailbox, 20)
    const before = await kept.shown(LISTS)
    await mailbox.down()
    await mailbox.up()
    const after = await kept.shown(LISTS)
    if (!isDeepStrictEqual(after, before))
      throw new Error(`schema ${schema}: ${firstDifference(JSON.stringify(before), JSON.stringify(after))}`)
    const { messages } = await kept.ask('bob', 'inbox', { cursor: kept.cursor })
    if (messages[0]?.subject !== 'to a room')
      throw new Error(`schema ${schema}: the cursor goes on with ${JSON.stringify(messages[0])}`)
    if (!(await kept.repeats())) throw new Error(`schema ${schema}: the key is forgotten`)
    opened.push(schema)
    console.log(`schema ${schema}, ${commit.slice(0, 7)}: as it was`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

report({
  suite: 'old-binaries',
  topic: 'upgrades',
  what: 'programs of earlier schemas, built from their commits, write stores that today’s opens with all mail, states, keys and cursors',
  run: 'M4A_KEEP_RESULTS=1 npm run bun -- test/law/old-binaries.ts',
  seconds: Math.round((performance.now() - began) / 100) / 10,
  cases: { count: opened.length, what: 'programs' },
  seeds: [],
  faults: {},
  load: null,
  lost: 0,
  wrong: 0,
  figures: { schemas: opened.join(' ') },
})
