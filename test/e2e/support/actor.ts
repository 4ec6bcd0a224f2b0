// An actor: a child process that is a session. It calls the mailbox at the door that it is told, from its own pid.
import { join } from 'node:path'

export type DoorName = 'http' | 'socket' | 'mcp-legacy' | 'mcp-modern' | 'cli'
export const DOORS: readonly DoorName[] = ['http', 'socket', 'mcp-legacy', 'mcp-modern', 'cli']

export type Where = { token: string; port: number; socket: string; data: string; root: string }
/** What the process is: another name of this very runtime, the folder that it works in, and what else is on its command line. */
export type Process = { program?: string; cwd?: string; arguments?: readonly string[] }
export type Order =
  /** `token`: of another account than the actor was started for. */
  | { door: DoorName; op: string; request: object; token?: string }
  | { door: 'raw'; path: string; request: unknown; headers?: Record<string, string> }
  /** The ids of /events after `cursor`, until an event of the message `last` has come. */
  | { door: 'events'; cursor: string; last: string }
export type Reply = { status: number; body: Record<string, any> }

export class Actor {
  readonly #child
  readonly #waiting = new Map<number, (reply: Reply) => void>()
  #next = 0

  private constructor(
    where: Where,
    { program = process.execPath, cwd = process.cwd(), arguments: more = [] }: Process,
  ) {
    const child = Bun.spawn([program, join(import.meta.dir, 'actor-process.ts'), ...more], {
      env: { PATH: process.env.PATH ?? '', HOME: where.root, ACTOR: JSON.stringify(where) },
      cwd,
      // a session leader without a terminal: nobody above it can be its anchor
      detached: true,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    this.#child = child
    void this.#listen(child.stdout)
  }

  static async start(where: Where, process: Process = {}): Promise<Actor> {
    return new Actor(where, process)
  }

  get pid(): number {
    return this.#child.pid
  }

  /** One call; resolves to HTTP status (or for the CLI its exit code) and the parsed answer or refusal. */
  call(order: Order): Promise<Reply> {
    const id = this.#next++
    this.#child.stdin.write(`${JSON.stringify({ id, ...order })}\n`)
    this.#child.stdin.flush()
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }

  /** The same at a door that answers the wire object: throws the refusal's kind where it is refused. */
  async ask(door: DoorName, op: string, request: object = {}): Promise<Record<string, any>> {
    const { body } = await this.call({ door, op, request })
    if (typeof body.kind === 'string' && typeof body.hint === 'string') throw new Error(body.kind)
    return body
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#child.kill(signal)
    await this.#child.exited
  }

  async #listen(output: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of output) {
      rest += decoder.decode(chunk, { stream: true })
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const { id, ...reply } = JSON.parse(line) as Reply & { id: number }
        this.#waiting.get(id)?.(reply)
        this.#waiting.delete(id)
      }
    }
  }
}
