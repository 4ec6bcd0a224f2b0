// Compiles the one binary: `npm run build` for this machine, `npm run build -- <target> …` or `all` for other systems;
// `npm run release [-- <target> …]` makes archives with their checksums in dist/release and npm packages in dist/npm.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from './src/door/version.ts'
import { tarGz, zip } from './src/install/release/archive.ts'
import { sha256, sumsText } from './src/install/release/checksums.ts'
import { platformManifest, wrapperManifest } from './src/install/release/npm-packages.ts'
import { platformPackage, programFile, TARGETS, type Target } from './src/install/release/targets.ts'

/** The program, and the threads that it starts by file. */
const ENTRIES = ['main.ts', 'store/writer-worker.ts', 'store/housekeeper-worker.ts', 'attest/scan-worker.ts']
const PAPERS = ['LICENSE', 'README.md']
const here = import.meta.dir

/** Null: for this machine. The runtimes of other systems come from the npm registry. @throws when it cannot be compiled */
async function compile(target: Target | null, outfile: string): Promise<string> {
  const built = await Bun.build({
    entrypoints: ENTRIES.map((entry) => join(here, 'src', entry)),
    root: join(here, 'src'),
    target: 'bun',
    format: 'esm',
    minify: true,
    bytecode: true,
    // heavy parts stay behind a dynamic import, so that a client command starts fast
    splitting: true,
    // threads are started by the name of their file, so entries lie flat beside the chunks
    naming: { entry: '[name].[ext]' },
    // a bunfig.toml or .env of the folder where an agent works must not run code or set anything
    compile: { outfile, autoloadBunfig: false, autoloadDotenv: false, ...(target ? { target: target.bun } : {}) },
  })
  if (!built.success) throw new AggregateError(built.logs, `could not compile ${outfile}`)
  return outfile
}

const program = (target: Target | null): string => {
  const suffix = (target?.os ?? process.platform) === 'win32' ? '.exe' : ''
  return join('dist', `mail4agent${target ? `-${target.name}` : ''}${suffix}`)
}

const writeJson = (path: string, value: object) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
const folderOf = (name: string) => join('dist', 'npm', name.replace('@mail4agent/', ''))

/** One system: its npm package, and its archive. The program is compiled into the package and read from there. */
async function releaseOne(target: Target): Promise<[archive: string, sum: string]> {
  const folder = folderOf(platformPackage(target))
  mkdirSync(join(folder, 'bin'), { recursive: true })
  const outfile = await compile(target, join(folder, 'bin', programFile(target)))
  writeJson(join(folder, 'package.json'), platformManifest(target, VERSION))
  copyFileSync(join(here, 'LICENSE'), join(folder, 'LICENSE'))
  const top = `mail4agent-${VERSION}-${target.name}`
  const entries = [
    { name: `${top}/${programFile(target)}`, bytes: readFileSync(outfile), mode: 0o755 },
    ...PAPERS.map((name) => ({ name: `${top}/${name}`, bytes: readFileSync(join(here, name)), mode: 0o644 })),
  ]
  const archive = target.os === 'win32' ? `${top}.zip` : `${top}.tar.gz`
  const bytes = target.os === 'win32' ? zip(entries) : tarGz(entries)
  writeFileSync(join('dist', 'release', archive), bytes)
  return [archive, sha256(bytes)]
}

/** @returns the exit code: 1 when a system could not be built; the others are complete then */
async function release(targets: readonly Target[]): Promise<number> {
  for (const folder of ['release', 'npm']) rmSync(join('dist', folder), { recursive: true, force: true })
  mkdirSync(join('dist', 'release'), { recursive: true })
  const sums = new Map<string, string>()
  const failed: string[] = []
  for (const [index, target] of targets.entries()) {
    const began = performance.now()
    console.log(`[${index + 1}/${targets.length}] ${target.name}`)
    try {
      const [archive, sum] = await releaseOne(target)
      sums.set(archive, sum)
      console.log(`      dist/release/${archive} in ${((performance.now() - began) / 1_000).toFixed(1)} s`)
    } catch (error) {
      rmSync(folderOf(platformPackage(target)), { recursive: true, force: true })
      failed.push(target.name)
      console.error(`      ${target.name} failed: ${reasons(error)}`)
    }
  }
  const wrapper = folderOf('mail4agent')
  mkdirSync(wrapper, { recursive: true })
  // it names every system, also one that was not asked for just now
  writeJson(join(wrapper, 'package.json'), wrapperManifest(TARGETS, VERSION))
  copyFileSync(join(here, 'src', 'install', 'release', 'launcher.cjs'), join(wrapper, 'launcher.cjs'))
  for (const name of PAPERS) copyFileSync(join(here, name), join(wrapper, name))
  writeFileSync(join('dist', 'release', 'SHA256SUMS'), sumsText(sums))
  console.log('dist/release/SHA256SUMS, dist/npm')
  if (failed.length > 0) console.error(`not built: ${failed.join(' ')}`)
  return failed.length > 0 ? 1 : 0
}

/** Bun puts what went wrong into a list inside of an error without a message. */
function reasons(error: unknown): string {
  if (error instanceof AggregateError) return [error.message, ...error.errors.map(reasons)].filter(Boolean).join('; ')
  return error instanceof Error ? error.message : String(error)
}

const asked = process.argv.slice(2)
const isRelease = asked[0] === 'release'
const names = (isRelease ? asked.slice(1) : asked).flatMap((name) =>
  name === 'all' ? TARGETS.map((one) => one.name) : [name],
)
const unknown = names.filter((name) => !TARGETS.some((target) => target.name === name))
if (unknown.length > 0) {
  const known = TARGETS.map((target) => target.name).join(' ')
  console.error(`unknown target ${unknown.join(', ')}; one of: ${known} all`)
  process.exit(2)
}
mkdirSync('dist', { recursive: true })
const targets = TARGETS.filter(({ name }) => names.includes(name))
if (isRelease) process.exit(await release(targets.length > 0 ? targets : TARGETS))
for (const target of targets.length > 0 ? targets : [null]) console.log(await compile(target, program(target)))
