// The Windows attestor, put together.
//
// It names the process that made the socket. A handle of it that was inherited or duplicated into another process is not
// seen: the list of all handles hides which object they are of from whoever is no administrator.
import { ancestorsOf } from '../ancestors.ts'
import type { Attestor } from '../attestor.ts'
import { refuse } from '../refuse.ts'
import { selfTest } from '../self-test.ts'
import { ownerOf, timeOfDay } from './facts.ts'
import { bootTime } from './layout.ts'
import { PinTable } from './pin-table.ts'
import type { Machine } from './pinned.ts'
import { TcpAttestation } from './tcp.ts'
import { TcpTable } from './tcp-table.ts'

/** GetCurrentProcess: the handle of ourselves is all ones. */
const OURSELVES = 0xffff_ffff_ffff_ffffn

/** Throws where Windows does not tell what a look at processes needs. */
export function openWindows(): Attestor {
  const table = new PinTable(readMachine())
  let tcp: TcpAttestation | undefined
  const noSockets = refuse('unsupported_platform', { platform: process.platform, reason: 'no Unix socket on Windows' })
  const attestor: Attestor = {
    tcp(peer, local) {
      tcp ??= new TcpAttestation(new TcpTable(), table)
      return tcp.attest(peer, local)
    },
    accept: () => ({ pid: 0, uid: -1, owner: noSockets }),
    unix: () => noSockets,
    self: () => table.pin(process.pid)?.process ?? null,
    ancestors: (process) => ancestorsOf(process, table),
    environment: (instance, names) => table.instance(instance)?.environment(names) ?? {},
    alive: (instance) => table.isAlive(instance),
    selfTest: () => selfTest(attestor),
    close: () => table.close(),
  }
  return attestor
}

function readMachine(): Machine {
  const owner = ownerOf(OURSELVES)
  if (owner === null) throw new Error('our own user cannot be asked')
  return { owner, boot: bootTime(timeOfDay()) }
}
