// The wire format of D-Bus, as far as notifications need it: D-Bus Specification, "Message Protocol". Little-endian alone.

export class Out {
  readonly #bytes: number[] = []

  align(to: number): void {
    while (this.#bytes.length % to !== 0) this.#bytes.push(0)
  }

  byte(value: number): void {
    this.#bytes.push(value & 0xff)
  }

  u32(value: number): void {
    this.align(4)
    for (const shift of [0, 8, 16, 24]) this.byte(value >>> shift)
  }

  string(text: string): void {
    const bytes = Buffer.from(text.toWellFormed().replaceAll('\0', ''))
    this.u32(bytes.length)
    this.#bytes.push(...bytes, 0)
  }

  signature(text: string): void {
    this.byte(text.length)
    this.#bytes.push(...Buffer.from(text), 0)
  }

  /** `to`: the alignment of an element; the padding before the first is not part of the length. */
  array(to: number, elements: () => void): void {
    this.u32(0)
    const at = this.#bytes.length - 4
    this.align(to)
    const start = this.#bytes.length
    elements()
    const length = this.#bytes.length - start
    for (const [index, shift] of [0, 8, 16, 24].entries()) this.#bytes[at + index] = (length >>> shift) & 0xff
  }

  variant(signature: string, value: () => void): void {
    this.signature(signature)
    value()
  }

  /** One of a{sv}. */
  entry(key: string, signature: string, value: () => void): void {
    this.align(8)
    this.string(key)
    this.variant(signature, value)
  }

  bytes(): Buffer {
    return Buffer.from(this.#bytes)
  }
}

/** Reads values in order. @throws RangeError where the bytes end too early */
export class In {
  #at: number

  constructor(
    readonly bytes: Buffer,
    at = 0,
  ) {
    this.#at = at
  }

  get at(): number {
    return this.#at
  }

  align(to: number): void {
    this.#at = Math.ceil(this.#at / to) * to
  }

  byte(): number {
    return this.bytes.readUInt8(this.#at++)
  }

  u32(): number {
    this.align(4)
    const value = this.bytes.readUInt32LE(this.#at)
    this.#at += 4
    return value
  }

  string(): string {
    return this.#text(this.u32())
  }

  signature(): string {
    return this.#text(this.byte())
  }

  /** An array of strings. */
  strings(): string[] {
    const length = this.u32()
    const end = this.#at + length
    const all: string[] = []
    while (this.#at < end) all.push(this.string())
    return all
  }

  #text(length: number): string {
    if (this.#at + length + 1 > this.bytes.length) throw new RangeError('a string is cut off')
    const text = this.bytes.toString('utf8', this.#at, this.#at + length)
    this.#at += length + 1
    return text
  }
}
