// Ready JSON text: an answer that the store already keeps as JSON is passed on as text, not parsed and printed again.

/** A complete JSON value as text. Doors send `text` as it is. */
export class Json {
  constructor(readonly text: string) {}
  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}
