// Compiles the one binary: `npm run build` for this machine, `npm run build -- <target> …` or `all` for other systems.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** name → Bun's compile target. The runtimes of other systems come from the npm registry. */
const TARGETS = {
  'linux-x64': 'bun-linux-x64',
  'linux-x64-musl': 'bun-linux-x64-musl',
  'linux-arm64': 'bun-linux-arm64',
  'linux-arm64-musl': 'bun-linux-arm64-musl',
  'darwin-x64': 'bun-darwin-x64',
  'darwin-arm64': 'bun-darwin-arm64',
  'windows-x64': 'bun-windows-x64',
} as const
type Target = keyof typeof TARGETS

/** The program, and the threads that it starts by file. */
const ENTRIES = ['main.ts', 'store/writer-worker.ts', 'store/housekeeper-worker.ts', 'attest/scan-worker.ts']

async function compile(target: Target | null): Promise<string> {
  const windows = target?.startsWith('windows') ?? process.platform === 'win32'
  const outfile = join('dist', `mail4agent${target ? `-${target}` : ''}${windows ? '.exe' : ''}`)
  const built = await Bun.build({
    entrypoints: ENTRIES.map((entry) => join(import.meta.dir, 'src', entry)),
    root: join(import.meta.dir, 'src'),
    target: 'bun',
    format: 'esm',
    minify: true,
    bytecode: true,
    // heavy parts stay behind a dynamic import, so that a client command starts fast
    splitting: true,
    // threads are started by the name of their file, so entries lie flat beside the chunks
    naming: { entry: '[name].[ext]' },
    // a bunfig.toml or .env of the folder where an agent works must not run code or set anything
    compile: { outfile, autoloadBunfig: false, autoloadDotenv: false, ...(target ? { target: TARGETS[target] } : {}) },
  })
  if (!built.success) throw new AggregateError(built.logs, `could not compile ${outfile}`)
  return outfile
}

const asked = process.argv.slice(2)
const names = asked.includes('all') ? Object.keys(TARGETS) : asked
const unknown = names.filter((name) => !Object.hasOwn(TARGETS, name))
if (unknown.length > 0) {
  console.error(`unknown target ${unknown.join(', ')}; one of: ${Object.keys(TARGETS).join(' ')} all`)
  process.exit(2)
}
mkdirSync('dist', { recursive: true })
for (const target of names.length > 0 ? (names as Target[]) : [null]) console.log(await compile(target))
