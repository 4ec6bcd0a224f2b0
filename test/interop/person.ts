// A person at matrix-js-sdk, in a process of its own: takes orders, and what happens there is waited for.
import { join } from 'node:path'
import type { Synapse } from '../support/synapse.ts'
import { packageFolder } from './install.ts'
import { type Answer, until } from './link-machines.ts'

export class Person {
  readonly told: Answer[] = []
  readonly #child

  private constructor(child: Bun.Subprocess<'pipe', 'pipe', 'inherit'>) {
    this.#child = child
    void this.#listen()
  }

  static async start(synapse: Synapse, name: string, home: string): Promise<Person> {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'person-process.ts')], {
      env: {
        PATH: process.env.PATH ?? '',
        HOME: home,
        SDK: await packageFolder('matrix-js-sdk', '43.0.0'),
        HOMESERVER: synapse.url,
        NAME: name,
      },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    return new Person(child)
  }

  async #listen(): Promise<void> {
    let rest = ''
    for await (const chunk of this.#child.stdout) {
      rest += Buffer.from(chunk).toString()
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.startsWith('{')) this.told.push(JSON.parse(line))
    }
  }

  /** Waits for what `test` is true of; it is then told no more. */
  hear(what: string, test: (one: Answer) => unknown): Promise<Answer> {
    return until(what, async () => {
      const at = this.told.findIndex((one) => test(one))
      return at < 0 ? undefined : this.told.splice(at, 1)[0]
    })
  }

  order(what: object): void {
    this.#child.stdin.write(`${JSON.stringify(what)}\n`)
    this.#child.stdin.flush()
  }

  /** Says a text; resolves to its event. */
  async say(room: string, text: string, more: object = {}): Promise<string> {
    this.order({ say: text, room, ...more })
    return (await this.hear(`said ${text}`, (one) => one.said)).said
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#child.exited
  }
}
