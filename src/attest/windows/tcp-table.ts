// The system's list of TCP connections, read anew at each question: Windows has no look-up of a single one.
import { type Memory, memory } from '../memory.ts'
import { windows } from './libraries.ts'
import { type End, findRow, type Row, SHAPES } from './tcp-rows.ts'

const AF_INET = 2
const AF_INET6 = 23
const ERROR_INSUFFICIENT_BUFFER = 122
/** The list may grow between two tries. */
const TRIES = 6
const MARGIN = 8192

/** Both ends of one connection as two rows; `error` where the list could not be read. */
export type Rows = { theirs: Row | null; ours: Row | null; error: number }

export class TcpTable {
  #table: Memory = memory(65_536)
  #size = memory(8)
  /** The list with times and modules needs more rights on some systems; the one with pids is always there. */
  #shapes: (typeof SHAPES)['pid'] | (typeof SHAPES)['module'] = SHAPES.module

  rows(peer: End, local: End): Rows {
    let error = this.#read(peer.address.length)
    if (error !== 0 && this.#shapes === SHAPES.module) {
      this.#shapes = SHAPES.pid
      error = this.#read(peer.address.length)
    }
    if (error !== 0) return { theirs: null, ours: null, error }
    const { bytes } = this.#table
    const shape = peer.address.length === 4 ? this.#shapes.v4 : this.#shapes.v6
    return { theirs: findRow(bytes, shape, peer, local), ours: findRow(bytes, shape, local, peer), error }
  }

  #read(addressSize: number): number {
    const six = addressSize !== 4
    const { tableClass } = six ? this.#shapes.v6 : this.#shapes.v4
    for (let tries = 1; ; tries++) {
      const { at, bytes } = this.#table
      this.#size.view.setUint32(0, bytes.length, true)
      const family = six ? AF_INET6 : AF_INET
      const error = windows().iphlpapi.GetExtendedTcpTable(at, this.#size.at, 0, family, tableClass, 0)
      if (error !== ERROR_INSUFFICIENT_BUFFER || tries === TRIES) return error
      this.#table = memory(Math.max(this.#size.view.getUint32(0, true), bytes.length) + MARGIN)
    }
  }
}
