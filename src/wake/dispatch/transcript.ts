// Follows what an attempt prints: grows it, when it last did, and what its client's events tell.
import { readFrom } from './attempt-files.ts'
import { type Event, isEvent, nothingYet, type Progress, type Provider } from './providers/provider.ts'

const PART = 262_144
/** A longer line is no event. */
const LINE = 4_194_304

export class Transcript {
  readonly progress: Progress = nothingYet()
  /** Bytes seen of both streams. */
  size = 0
  #offset = 0
  #rest = Buffer.alloc(0)

  constructor(
    readonly provider: Provider,
    readonly files: { readonly out: string; readonly err: string },
  ) {}

  /** Reads on. True: there was more. */
  read(): boolean {
    for (;;) {
      const { bytes } = readFrom(this.files.out, this.#offset, PART)
      if (bytes.length === 0) break
      this.#offset += bytes.length
      this.#take(bytes)
    }
    const size = this.#offset + readFrom(this.files.err, 0, 0).size
    const grown = size > this.size
    this.size = size
    return grown
  }

  #take(bytes: Buffer): void {
    let text = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10)) {
      this.#line(text.subarray(0, end))
      text = text.subarray(end + 1)
    }
    this.#rest = text.length > LINE ? Buffer.alloc(0) : Buffer.from(text)
  }

  #line(line: Buffer): void {
    if (line[0] !== 123) return // an event is an object: {
    const event = parsed(line.toString('utf8'))
    if (!event) return
    this.progress.events++
    this.provider.read(event, this.progress)
  }
}

function parsed(line: string): Event | null {
  try {
    const value: unknown = JSON.parse(line)
    return isEvent(value) ? value : null
  } catch {
    return null
  }
}
