// What a command is given: its options and words, the streams, the mailbox as its account, and how to show an answer.
import type { MailClient } from '../client/client.ts'
import type { FoundToken } from './account.ts'
import type { Global, Options, Values } from './command.ts'
import { connect } from './connect.ts'
import { escapeJson } from './escape.ts'
import type { Io } from './io.ts'
import { type Paint, paintFor } from './paint.ts'
import { type Place, placeOf } from './place.ts'
import { facts, table } from './table.ts'
import { usage } from './usage.ts'

export class Context<O extends Options = Options> {
  readonly paint: Paint
  readonly place: Place
  /** What the last `mailbox` or `operator` found to call with. */
  token: FoundToken | null = null

  constructor(
    readonly options: Values<O & Global>,
    readonly words: readonly string[],
    readonly io: Io,
  ) {
    const { 'no-color': noColor } = this.#globals
    this.paint = paintFor(io, io.outColumns !== null, noColor)
    this.place = placeOf(this.#globals, io)
  }

  /** The same options under the names that every command has. */
  get #globals(): Values<Global> {
    return this.options
  }

  get json(): boolean {
    return this.#globals.json
  }

  /** The word at `index`; `name` says in the refusal what is missing. */
  word(index: number, name: string): string {
    const word = this.words[index]
    if (word === undefined) throw usage(`${name} is missing`)
    return word
  }

  /** The mailbox, as the account that this command acts for. */
  mailbox(): Promise<MailClient> {
    return this.#connect('account')
  }

  /** The mailbox, as an operator. */
  operator(): Promise<MailClient> {
    return this.#connect('operator')
  }

  #connect(role: 'account' | 'operator'): Promise<MailClient> {
    return connect(this.place, this.#globals.as, this.io, role, (token) => {
      this.token = token
    })
  }

  print(text: string): void {
    this.io.out(text)
  }

  /** One line to whoever watches, on stderr. */
  say(line: string): void {
    this.io.err(`${line}\n`)
  }

  /** As `say`, only where a person watches: for what would be noise in a script. */
  progress(line: string): void {
    if (this.io.errIsTerminal) this.say(line)
  }

  /** Prints `answer` as JSON when that was asked for, else what `text` makes of it. Resolves to exit code 0. */
  show(answer: unknown, text: () => string): number {
    this.print(this.json ? this.#jsonText(answer) : text())
    return 0
  }

  /** One line of JSON in a pipe, indented on a terminal. */
  #jsonText(answer: unknown): string {
    if (this.io.outColumns === null) return `${JSON.stringify(answer)}\n`
    return `${escapeJson(JSON.stringify(answer, null, 2))}\n`
  }

  table(head: readonly string[], rows: readonly (readonly string[])[]): string {
    return table(head, rows, this.io.outColumns, this.paint)
  }

  facts(pairs: readonly (readonly [string, string | null | undefined])[]): string {
    return facts(pairs, this.paint)
  }
}
