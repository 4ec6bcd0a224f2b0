// The Linux attestor, put together.
import type { Attestor, Instance } from '../attestor.ts'
import { openScanWorker } from '../open-scan-worker.ts'
import { ancestorsOf } from './ancestors.ts'
import { ForkMark, readMachine } from './machine.ts'
import { PinTable } from './pin-table.ts'
import { Scanner } from './scanner.ts'
import { selfTest } from './self-test.ts'
import { SockDiag } from './sock-diag.ts'
import { TcpAttestation } from './tcp.ts'
import { UnixAttestation } from './unix.ts'

/** Throws where the kernel or the C library lacks what attestation needs. */
export function openLinux(): Attestor {
  const table = new PinTable(readMachine())
  const forks = new ForkMark()
  const diag = new SockDiag()
  const scanner = new Scanner(openScanWorker)
  const tcp = new TcpAttestation(diag, table, forks, scanner)
  const unix = new UnixAttestation(diag, table, forks, scanner)
  const attestor: Attestor = {
    tcp: (peer, local) => tcp.attest(peer, local),
    accept: (fd) => unix.accept(fd),
    unix: (peer) => unix.attest(peer),
    ancestors: (process) => ancestorsOf(process, table),
    environment(instance: Instance, names) {
      const pinned = table.instance(instance)
      if (pinned === null) return {}
      const mark = pinned.process.execMark
      const found = pinned.environment(names)
      return pinned.refresh() && pinned.process.execMark === mark ? found : {}
    },
    alive: (instance) => table.isAlive(instance),
    selfTest: () => selfTest(attestor),
    close() {
      scanner.close()
      diag.close()
      forks.close()
      table.close()
    },
  }
  return attestor
}
