// Other versions of our program, built from a copy of the source: a newer one, an older one, one that does not come up.
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '..', '..', '..')

export type Variant = {
  version: string
  /** Migrations more than ours, or fewer. */
  schema?: 1 | -1
  /** Dies once it has opened its store. */
  broken?: boolean
}

/** Builds it below `folder`; the path of the program. */
export function buildVariant(folder: string, { version, schema, broken }: Variant): string {
  const tree = join(folder, version)
  mkdirSync(tree, { recursive: true })
  for (const name of ['src', 'build.ts', 'package.json', 'tsconfig.json', 'LICENSE', 'README.md'])
    cpSync(join(ROOT, name), join(tree, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  const edit = (name: string, from: string, to: string) => {
    const path = join(tree, name)
    const text = readFileSync(path, 'utf8')
    if (!text.includes(from)) throw new Error(`${name} has no ${from}`)
    writeFileSync(path, text.replace(from, to))
  }
  edit('package.json', '"version": "', `"version": "${version}", "was": "`)
  if (schema) {
    const all = schema > 0 ? "[...OURS, 'CREATE TABLE newer(one INTEGER) STRICT']" : 'OURS.slice(0, -1)'
    edit('src/store/schema.ts', 'export const MIGRATIONS: readonly string[] =', 'const OURS: readonly string[] =')
    edit(
      'src/store/schema.ts',
      '/** The schema that',
      `export const MIGRATIONS: readonly string[] = ${all}\n/** The schema that`,
    )
  }
  if (broken) edit('src/door/daemon.ts', 'const firstStart = await', "throw new Error('broken on purpose')\n  await")
  if (broken) edit('src/door/daemon.ts', 'const newOperatorKey = firstStart ?', 'const newOperatorKey = broken ?')
  const built = Bun.spawnSync([process.execPath, 'run', 'build.ts'], { cwd: tree, timeout: 120_000 })
  if (!built.success) throw new Error(`${version}: ${built.stdout}${built.stderr}`)
  return join(tree, 'dist', 'mail4agent')
}
