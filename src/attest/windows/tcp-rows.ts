// The rows of the tables that GetExtendedTcpTable fills: pure functions over their bytes.

export type End = { address: Uint8Array; port: number }

export type Row = {
  state: number
  pid: number
  /** FILETIME when the socket was made; 0 where the system does not tell */
  created: bigint
}

export type Shape = {
  /** TCP_TABLE_CLASS */
  tableClass: number
  first: number
  size: number
  localAddress: number
  localPort: number
  remoteAddress: number
  remotePort: number
  state: number
  pid: number
  /** null: this table has no times */
  created: number | null
}

const V4 = { localAddress: 4, localPort: 8, remoteAddress: 12, remotePort: 16, state: 0, pid: 20 }
const V6 = { localAddress: 0, localPort: 20, remoteAddress: 24, remotePort: 44, state: 48, pid: 52 }

/** TCP_TABLE_OWNER_PID_CONNECTIONS (4) and TCP_TABLE_OWNER_MODULE_CONNECTIONS (7), for IPv4 and IPv6: iphlpapi.h, tcpmib.h. */
export const SHAPES = {
  pid: {
    v4: { tableClass: 4, first: 4, size: 24, created: null, ...V4 },
    v6: { tableClass: 4, first: 4, size: 56, created: null, ...V6 },
  },
  module: {
    v4: { tableClass: 7, first: 8, size: 160, created: 24, ...V4 },
    v6: { tableClass: 7, first: 8, size: 192, created: 56, ...V6 },
  },
} as const satisfies Record<string, Record<'v4' | 'v6', Shape>>

/** MIB_TCP_STATE: ESTAB, FIN_WAIT1 and FIN_WAIT2 (closed for writing only), CLOSE_WAIT (the other end closed first). */
export const isOpen = (state: number): boolean => state >= 5 && state <= 8

/**
 * The row whose own end is `local` and whose other end is `remote`: an open one before one that is closing, which may be
 * left of an earlier connection between the same ends. Null without any.
 */
export function findRow(bytes: Uint8Array, shape: Shape, local: End, remote: End): Row | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const room = Math.floor((bytes.byteLength - shape.first) / shape.size)
  const count = bytes.byteLength < 4 ? 0 : Math.min(view.getUint32(0, true), Math.max(0, room))
  let found: Row | null = null
  for (let i = 0, at = shape.first; i < count; i++, at += shape.size) {
    // ports are in network order, in the first two bytes of their field
    if (view.getUint16(at + shape.localPort) !== local.port) continue
    if (view.getUint16(at + shape.remotePort) !== remote.port) continue
    if (!isAt(bytes, at + shape.localAddress, local.address)) continue
    if (!isAt(bytes, at + shape.remoteAddress, remote.address)) continue
    const created = shape.created === null ? 0n : view.getBigUint64(at + shape.created, true)
    const row = { state: view.getUint32(at + shape.state, true), pid: view.getUint32(at + shape.pid, true), created }
    if (isOpen(row.state)) return row
    found ??= row
  }
  return found
}

function isAt(bytes: Uint8Array, at: number, address: Uint8Array): boolean {
  for (let i = 0; i < address.length; i++) if (bytes[at + i] !== address[i]) return false
  return true
}
