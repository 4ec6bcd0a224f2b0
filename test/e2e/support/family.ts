// Processes above and below one another: a registered session or a false agent, and the one-shot callers that it starts.
import { chmodSync, copyFileSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Reply } from './actor.ts'
import type { Mailbox } from './mailbox.ts'

const PARENT = join(import.meta.dir, 'parent.ts')

/** Answers, a line each, of everything that writes to one stream. */
export class Lines {
  readonly #lines: string[] = []
  readonly #waiting: ((line: string) => void)[] = []

  constructor(output: ReadableStream<Uint8Array>) {
    void this.#listen(output)
  }

  async next(): Promise<Reply> {
    const line = this.#lines.shift() ?? (await new Promise<string>((resolve) => this.#waiting.push(resolve)))
    return JSON.parse(line)
  }

  async #listen(output: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of output) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const waiting = this.#waiting.shift()
        if (waiting) waiting(line)
        else this.#lines.push(line)
      }
    }
  }
}

/** A registered process without a terminal, which starts others. */
export class Parent {
  readonly lines: Lines
  readonly #child

  private constructor(mailbox: Mailbox, token: string, program: string, argv: readonly string[]) {
    const order = JSON.stringify({ token, port: mailbox.port })
    this.#child = Bun.spawn([program, PARENT, order, ...argv], {
      env: { PATH: process.env.PATH ?? '', HOME: mailbox.root },
      detached: true,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    this.lines = new Lines(this.#child.stdout)
  }

  /** Resolves once it is registered; `reply` is its whoami. */
  static async start(mailbox: Mailbox, token: string, program = process.execPath, argv: readonly string[] = []) {
    const parent = new Parent(mailbox, token, program, argv)
    return { parent, reply: await parent.lines.next() }
  }

  get pid(): number {
    return this.#child.pid
  }

  /** Starts a child of it; the child's answers come in `lines`. */
  spawn(words: readonly string[]): void {
    this.#child.stdin.write(`${JSON.stringify(words)}\n`)
    this.#child.stdin.flush()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#child.exited
  }
}

/** A copy of `original` under another name, in the mailbox's own folder: what the kernel then shows as the executable. */
export function copyAs(mailbox: Mailbox, name: string, original: string): string {
  const path = join(mailbox.root, name)
  copyFileSync(realpathSync(original), path)
  chmodSync(path, 0o755)
  return path
}

/** Another name for the same file: the kernel shows the original, only the process calls itself so. */
export function linkAs(mailbox: Mailbox, name: string, original: string): string {
  const path = join(mailbox.root, name)
  symlinkSync(realpathSync(original), path)
  return path
}

/** `words` as a line for a shell. */
export const shellLine = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
