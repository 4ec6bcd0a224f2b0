// The macOS attestor, put together.
import { ancestorsOf, type Older } from '../ancestors.ts'
import type { Attestor } from '../attestor.ts'
import { selfTest } from '../self-test.ts'
import { variables } from './arguments.ts'
import { startOf } from './facts.ts'
import { libSystem } from './lib-system.ts'
import { bootSession, KnownTable } from './process-table.ts'
import { TcpAttestation } from './tcp.ts'
import { UnixAttestation } from './unix.ts'

/** Unique ids are given in ascending order; the start time of another user's process is not told. */
const older: Older = (parent, child) => BigInt(parent.pidfd ?? 0) < BigInt(child.pidfd ?? 0)

/** Throws where the kernel does not tell what a look at processes needs. Keeps nothing open. */
export function openDarwin(): Attestor {
  const table = new KnownTable({ euid: libSystem().geteuid(), boot: bootSession() })
  const tcp = new TcpAttestation(table)
  const unix = new UnixAttestation(table)
  const attestor: Attestor = {
    tcp: (peer, local) => tcp.attest(peer, local),
    accept: (fd) => unix.accept(fd),
    unix: (peer) => unix.attest(peer),
    self: () => table.pin(process.pid)?.process ?? null,
    ancestors: (process) => ancestorsOf(process, table, older),
    environment(instance, names) {
      const held = table.instance(instance)
      if (held === null) return {}
      const mark = held.process.execMark
      const found = variables(startOf(held.pid)?.environment ?? [], names)
      return held.refresh() && held.process.execMark === mark ? found : {}
    },
    alive: (instance) => table.isAlive(instance),
    selfTest: () => selfTest(attestor),
    close() {},
  }
  return attestor
}
