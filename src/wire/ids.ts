// Names and ids without their schemas, for what starts often: how names are compared, how ids and cursors are made and read.

const NAME = /^[A-Za-z0-9._+-]{1,128}$/
export const isName = (text: string): boolean => NAME.test(text)

export const isRemoteName = (text: string): boolean => {
  const at = text.indexOf('@')
  return at > 0 && isName(text.slice(0, at)) && isName(text.slice(at + 1))
}

/** The form under which names are compared: names are ASCII, so lower case is canonical. */
export const canonical = (name: string): string => name.toLowerCase()

const PAD = 0x1000000000000

/** `m4a_` + 12 hex of the store's sequence + 12 random hex: found by the sequence, not guessable. */
export function messageId(sequence: number, random: string): string {
  // one digit more in front, cut off again, pads with zeros
  return `m4a_${(PAD + sequence).toString(16).slice(1)}${random}`
}

/** The sequence number inside a message id. */
export const sequenceOf = (id: string): number => Number.parseInt(id.slice(4, 16), 16)
export const randomOf = (id: string): string => id.slice(16)

export const cursorOf = (epoch: string, sequence: number): string => `${epoch}.${sequence.toString(16)}`

/** Epoch and sequence of a cursor that has the right form. */
export function parseCursor(cursor: string): { epoch: string; sequence: number } {
  const dot = cursor.indexOf('.')
  return { epoch: cursor.slice(0, dot), sequence: Number.parseInt(cursor.slice(dot + 1), 16) }
}
