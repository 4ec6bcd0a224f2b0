// A person at matrix-js-sdk, in a process of its own: orders go in as lines, what it tells comes out.
import { join } from 'node:path'
import type { Synapse } from '../support/synapse.ts'
import { packageFolder } from './install.ts'
import { type Answer, until } from './link-machines.ts'

export class Person {
  readonly #child
  readonly #told: Answer[] = []
  user = ''
  /** The cross-signing key of the account. */
  key = ''

  private constructor(child: Bun.Subprocess<'pipe', 'pipe', 'inherit'>) {
    this.#child = child
    void this.#read()
  }

  static async start(synapse: Synapse, name: string): Promise<Person> {
    const env = { SDK: await packageFolder('matrix-js-sdk', '43.0.0'), HOMESERVER: synapse.url, NAME: name }
    const person = new Person(
      Bun.spawn([process.execPath, join(import.meta.dir, 'person-process.ts')], {
        env: { PATH: process.env.PATH ?? '', HOME: synapse.root, ...env },
        stdin: 'pipe',
        stdout: 'pipe',
        stderr: 'inherit',
      }),
    )
    const { user, key } = await person.hear('who it is', (one) => one.key)
    Object.assign(person, { user, key })
    return person
  }

  async #read(): Promise<void> {
    let rest = ''
    for await (const chunk of this.#child.stdout) {
      rest += Buffer.from(chunk).toString()
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.startsWith('{')) this.#told.push(JSON.parse(line))
    }
  }

  order(what: object): void {
    this.#child.stdin.write(`${JSON.stringify(what)}\n`)
    this.#child.stdin.flush()
  }

  /** The first thing told that `test` accepts; it is told once. */
  hear(what: string, test: (one: Answer) => unknown, ms = 60_000): Promise<Answer> {
    return until(
      what,
      async () => {
        const found = this.#told.find((one) => test(one))
        if (found) this.#told.splice(this.#told.indexOf(found), 1)
        return found
      },
      ms,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill()
    await this.#child.exited
  }
}
