// The kernel's list of TCP connections, `net.inet.tcp.pcblist_n`: which process used a socket last, as a hint where to look.
import { type End, endAt, isAt } from './layout.ts'

export type Hint = {
  /** the user that made the socket */
  uid: number
  /** the process that used it last, and the one on whose behalf */
  pids: number[]
}

/** xnu, bsd/sys/socketvar.h: the kinds of the records, one after the other for each connection. */
const XSO_SOCKET = 1
const XSO_INPCB = 0x10
/** struct xinpgen, which begins and ends the list. */
const MARK_BYTES = 24

/** The entry of the socket whose own end is `local` and whose other end is `remote`; null without one. */
export function hintFor(list: Uint8Array, local: End, remote: End): Hint | null {
  const view = new DataView(list.buffer, list.byteOffset, list.byteLength)
  let ours = false
  for (let at = list.length < 4 ? 0 : aligned(view.getUint32(0, true)); at + 8 <= list.length; ) {
    const length = view.getUint32(at, true)
    if (length <= MARK_BYTES || at + length > list.length) return null
    const kind = view.getUint32(at + 4, true)
    if (kind === XSO_INPCB && length >= 80) {
      const versions = view.getUint8(at + 44)
      ours =
        isAt(endAt(list, at + 64, view.getUint16(at + 18), versions), local) &&
        isAt(endAt(list, at + 48, view.getUint16(at + 16), versions), remote)
    } else if (kind === XSO_SOCKET && ours && length >= 76) {
      const pids = [view.getInt32(at + 68, true), view.getInt32(at + 72, true)].filter((pid) => pid > 0)
      return { uid: view.getUint32(at + 64, true), pids: [...new Set(pids)] }
    }
    at += aligned(length)
  }
  return null
}

/** Not by bits: they would make the largest sizes negative. */
const aligned = (size: number): number => Math.ceil(size / 8) * 8
