// The pinned real clients, installed from npm into a cache of their own: they are no dependency of the project.
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

export type ClientName = 'claude' | 'codex' | 'opencode'
/** Those and the ones that fewer things are tried with. */
export type AnyClient = ClientName | 'gemini' | 'qwen' | 'kimi' | 'grok' | 'copilot'

type Pin = {
  name: string
  version: string
  /** What npm would run after the install, in the package's folder: puts the native executable where `bin` points. */
  postinstall?: string
  /** The version of node that it needs, where that of the machine may be too old: installed beside it. */
  node?: string
}

const PINS: Record<AnyClient, Pin> = {
  claude: { name: '@anthropic-ai/claude-code', version: '2.1.332', postinstall: 'install.cjs' },
  codex: { name: '@openai/codex', version: '0.171.0' },
  opencode: { name: 'opencode-ai', version: '1.18.33', postinstall: 'postinstall.mjs' },
  gemini: { name: '@google/gemini-cli', version: '0.61.0' },
  qwen: { name: '@qwen-code/qwen-code', version: '0.24.4', node: '24.21.0' },
  kimi: { name: '@moonshot-ai/kimi-code', version: '2.1.0', node: '24.21.0' },
  grok: { name: '@xai-official/grok', version: '1.0.41' },
  copilot: { name: '@github/copilot', version: '1.0.102' },
}

export const CLIENTS: ClientName[] = ['claude', 'codex', 'opencode']

/** The executable that a user's PATH would have, installed if it is not there yet. Throws when it cannot be had. */
export async function clientExecutable(client: AnyClient): Promise<string> {
  const { name, version, postinstall, node } = PINS[client]
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'mail4agent-test-clients')
  const folder = join(cache, `${client}-${version}`)
  const executable = join(folder, 'node_modules', '.bin', client)
  if (existsSync(executable)) return executable

  // Built aside and moved in one step: an install that was cut off is never taken for a finished one.
  const aside = join(cache, `.${client}-${version}-${process.pid}`)
  rmSync(aside, { recursive: true, force: true })
  mkdirSync(aside, { recursive: true })
  writeFileSync(join(aside, 'package.json'), '{"private":true}\n')
  // Install scripts are off, since many machines have them off, and then run by hand: the same everywhere.
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--include=optional', '--loglevel=error']
  await run(['npm', 'install', ...options, '--save-exact', `${name}@${version}`], aside)
  if (postinstall) await run(['node', postinstall], join(aside, 'node_modules', name))
  if (node !== undefined) {
    await run(['npm', 'install', ...options, '--save-exact', `node@${node}`], aside)
    await run(['node', 'installArchSpecificPackage'], join(aside, 'node_modules', 'node'))
    // npm links no executable that an install script makes
    const link = join(aside, 'node_modules', '.bin', 'node')
    if (!existsSync(link)) symlinkSync('../node/bin/node', link)
  }
  await run([join(aside, 'node_modules', '.bin', client), '--version'], aside)
  rmSync(folder, { recursive: true, force: true })
  renameSync(aside, folder)
  return executable
}

async function run(command: string[], cwd: string): Promise<void> {
  const env = { ...process.env, PATH: `${join(cwd, 'node_modules', '.bin')}:${process.env.PATH}` }
  const child = Bun.spawn(command, { cwd, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (child.exitCode !== 0) throw new Error(`${command.join(' ')} failed in ${cwd}: ${err || out}`)
}
