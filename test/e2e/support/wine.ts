// A Windows of our own: Wine on a prefix in the temporary folder, and what Bun needs there that Wine does not have.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { havePackages } from './packages.ts'

const WINE = '/usr/lib/wine/wine64'
const WINESERVER = '/usr/lib/wine/wineserver64'
const MINGW = '/usr/bin/x86_64-w64-mingw32-gcc'

export const hasWine =
  process.platform === 'linux' &&
  process.arch === 'x64' &&
  havePackages([WINE, WINESERVER, MINGW], ['wine', 'wine64', 'gcc-mingw-w64-x86-64-win32'])

export class Wine {
  /** Outside the tree: a prefix has a link to `/`, which whoever walks the tree would follow. */
  readonly folder = mkdtempSync(join(tmpdir(), 'm4a-wine-'))
  readonly #env = {
    PATH: process.env.PATH ?? '',
    HOME: this.folder,
    WINEPREFIX: join(this.folder, 'prefix'),
    WINEDEBUG: '-all',
  }

  static async start(): Promise<Wine> {
    const wine = new Wine()
    await wine.spawn(['wineboot', '-i']).exited
    // Bun imports ProcessPrng, which Wine 8 does not have
    wine.compile('bcryptprimitives.c', 'prefix/drive_c/windows/system32/bcryptprimitives.dll', '-shared', '-ladvapi32')
    return wine
  }

  /** Compiles a C file of this folder for Windows. */
  compile(source: string, to: string, ...options: string[]): string {
    const out = join(this.folder, to)
    const built = Bun.spawnSync([MINGW, '-O2', '-o', out, join(import.meta.dir, source), ...options])
    if (!built.success) throw new Error(built.stderr.toString())
    return out
  }

  spawn(command: string[], env: Record<string, string> = {}) {
    return Bun.spawn([WINE, ...command], {
      cwd: this.folder,
      env: { ...this.#env, ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
  }

  /** How a Windows program calls a file of this machine. */
  path(unix: string): string {
    return `Z:${unix.replaceAll('/', '\\')}`
  }

  /** Ends the processes of this prefix, and no others. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Bun.spawn([WINESERVER, '-k', '-w'], { env: this.#env }).exited
    rmSync(this.folder, { recursive: true, force: true })
  }
}
