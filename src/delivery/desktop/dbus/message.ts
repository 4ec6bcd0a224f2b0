// One message of D-Bus: a call as bytes, and what a reply or an error says. D-Bus Specification, "Message Format".
import { In, Out } from './marshal.ts'

export type Member = { destination: string; path: string; interface: string; member: string }

export type Received = {
  type: number
  /** The call that it answers; null for a signal. */
  replyTo: number | null
  error: string | null
  signature: string
  /** Where its body begins. */
  body: In
}

export const TYPE = { call: 1, reply: 2, error: 3 } as const
const FIELD = { path: 1, interface: 2, member: 3, error: 4, replyTo: 5, destination: 6, signature: 8 } as const
const FIXED = 16
/** Far more than any answer to a notification; the protocol allows 128 MiB. */
const MOST = 1_048_576

export function callBytes(serial: number, to: Member, signature: string, body: Buffer): Buffer {
  const out = new Out()
  out.byte(0x6c) // l: little-endian
  out.byte(TYPE.call)
  out.byte(0)
  out.byte(1) // the version of the protocol
  out.u32(body.length)
  out.u32(serial)
  const field = (code: number, type: string, value: string) => {
    out.align(8)
    out.byte(code)
    out.variant(type, () => (type === 'g' ? out.signature(value) : out.string(value)))
  }
  out.array(8, () => {
    field(FIELD.path, 'o', to.path)
    field(FIELD.interface, 's', to.interface)
    field(FIELD.member, 's', to.member)
    field(FIELD.destination, 's', to.destination)
    if (signature !== '') field(FIELD.signature, 'g', signature)
  })
  out.align(8)
  return Buffer.concat([out.bytes(), body])
}

type Fields = Pick<Received, 'replyTo' | 'error' | 'signature'>

/**
 * The first message of `bytes` and how long it is; null while it is not whole.
 * @throws Error for what is no message that we understand
 */
export function firstMessage(bytes: Buffer): { message: Received; length: number } | null {
  if (bytes.length < FIXED) return null
  if (bytes.readUInt8(0) !== 0x6c) throw new Error('the bus speaks big-endian')
  const bodyLength = bytes.readUInt32LE(4)
  const start = Math.ceil((FIXED + bytes.readUInt32LE(12)) / 8) * 8
  const length = start + bodyLength
  if (length > MOST) throw new Error('the bus sends a message that is too long')
  if (bytes.length < length) return null
  const whole = bytes.subarray(0, length)
  const message = { type: whole.readUInt8(1), ...fieldsOf(whole), body: new In(whole.subarray(start)) }
  return { message, length }
}

/** @throws Error where the fields are not as long as they say */
function fieldsOf(bytes: Buffer): Fields {
  try {
    return readFields(bytes)
  } catch (error) {
    if (error instanceof RangeError) throw new Error('the bus sends a message whose head is cut off')
    throw error
  }
}

function readFields(bytes: Buffer): Fields {
  const found: Fields = { replyTo: null, error: null, signature: '' }
  const end = FIXED + bytes.readUInt32LE(12)
  const header = new In(bytes.subarray(0, end), FIXED)
  while (header.at < end) {
    header.align(8)
    const code = header.byte()
    const type = header.signature()
    const value = type === 'u' ? header.u32() : type === 'g' ? header.signature() : header.string()
    if (code === FIELD.replyTo && typeof value === 'number') found.replyTo = value
    if (code === FIELD.error && typeof value === 'string') found.error = value
    if (code === FIELD.signature && typeof value === 'string') found.signature = value
  }
  return found
}
