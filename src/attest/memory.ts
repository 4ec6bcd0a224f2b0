// Fixed memory that foreign functions read and write.
import { type Pointer, ptr } from 'bun:ffi'

/** Memory at a fixed address. Nothing may be awaited between filling it and the call that uses it. */
export type Memory = { bytes: Uint8Array<ArrayBuffer>; view: DataView; at: Pointer }

export function memory(size: number): Memory {
  const bytes = new Uint8Array(new ArrayBuffer(size))
  return { bytes, view: new DataView(bytes.buffer), at: ptr(bytes) }
}

/** A constant string for C. */
export function cstring(text: string): Memory {
  const encoded = new TextEncoder().encode(text)
  const made = memory(encoded.length + 1)
  made.bytes.set(encoded)
  return made
}
