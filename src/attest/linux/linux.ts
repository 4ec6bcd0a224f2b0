// The Linux attestor, put together.

import { ancestorsOf } from '../ancestors.ts'
import type { Attestor, Instance } from '../attestor.ts'
import { refuseAll } from '../none.ts'
import { openScanWorker } from '../open-scan-worker.ts'
import { selfTest } from '../self-test.ts'
import { descriptorLimit, pinsWithin } from './descriptors.ts'
import { ForkMark, readMachine } from './machine.ts'
import { PinTable } from './pin-table.ts'
import { Scanner } from './scanner.ts'
import { SockDiag } from './sock-diag.ts'
import { TcpAttestation } from './tcp.ts'
import { UnixAttestation } from './unix.ts'

type Sockets = Pick<Attestor, 'tcp' | 'accept' | 'unix' | 'close'>

/** Throws where the kernel or the C library lacks what a look at processes needs; what sockets need is opened with the first one. */
export function openLinux(): Attestor {
  const table = new PinTable(readMachine(), pinsWithin(descriptorLimit()))
  let opened: Sockets | undefined
  const sockets = (): Sockets => {
    if (opened) return opened
    try {
      opened = openSockets(table)
      return opened
    } catch (error) {
      return refuseAll(error instanceof Error ? error.message : 'attestation cannot start')
    }
  }
  const attestor: Attestor = {
    tcp: (peer, local) => sockets().tcp(peer, local),
    accept: (fd) => sockets().accept(fd),
    unix: (peer) => sockets().unix(peer),
    self: () => table.pin(process.pid)?.process ?? null,
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
      opened?.close()
      table.close()
    },
  }
  return attestor
}

/** Who is at the other end of sockets. While this throws every question is refused, and the self-test says why. */
function openSockets(table: PinTable): Sockets {
  const diag = new SockDiag()
  try {
    const forks = new ForkMark()
    const scanner = new Scanner(openScanWorker)
    const tcp = new TcpAttestation(diag, table, forks, scanner)
    const unix = new UnixAttestation(diag, table, forks, scanner)
    return {
      tcp: (peer, local) => tcp.attest(peer, local),
      accept: (fd) => unix.accept(fd),
      unix: (peer) => unix.attest(peer),
      close() {
        scanner.close()
        diag.close()
        forks.close()
      },
    }
  } catch (error) {
    diag.close()
    throw error
  }
}
