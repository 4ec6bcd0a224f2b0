// The library that lets syncs hang or fail on order, built once for a test file, and the order itself.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const compiler = Bun.which('gcc') ?? Bun.which('cc')

export class FaultyDisk {
  readonly #folder = mkdtempSync(join(tmpdir(), 'm4a-disk-'))
  readonly #order = join(this.#folder, 'order')

  /** Null where there is no compiler, or no LD_PRELOAD; in CI there has to be. */
  static build(): FaultyDisk | null {
    if (process.platform !== 'linux' || compiler === null) {
      if (process.env.CI) throw new Error('no C compiler')
      return null
    }
    const disk = new FaultyDisk()
    const source = join(import.meta.dir, 'faulty-disk.c')
    const built = Bun.spawnSync([compiler, '-shared', '-fPIC', '-O2', '-Wall', '-o', disk.#library, source, '-ldl'])
    if (!built.success || !existsSync(disk.#library)) throw new Error(built.stderr.toString())
    disk.order('well')
    return disk
  }

  get #library(): string {
    return join(this.#folder, 'faulty-disk.so')
  }

  /** What the process needs in its environment. */
  get environment(): Record<string, string> {
    return { LD_PRELOAD: this.#library, M4A_TEST_DISK: this.#order }
  }

  /** `hang`: no sync returns until the next order. `eio`: each fails. */
  order(word: 'well' | 'hang' | 'eio'): void {
    writeFileSync(this.#order, word)
  }

  [Symbol.dispose](): void {
    this.order('well')
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
