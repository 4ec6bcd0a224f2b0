// The agent client that runs this command, by the nearest recognised process above us. It finds a token and proves nothing.
import type { Process } from '../attest/attestor.ts'
import { recogniser } from '../identity/recognised.ts'
import { recognisedFor } from './config.ts'
import type { Io } from './io.ts'

/** The client's name, such as `claude`; null where none is above, or where this platform cannot tell. */
export async function agentAbove(io: Io): Promise<string | null> {
  const recognise = recogniser(recognisedFor(io))
  for (const process of await processesAbove(io.platform)) {
    const found = recognise(process)
    if (found !== null) return found.client
  }
  return null
}

/** Nearest first. Only the walk is needed here, so nothing of attestation but that is opened. */
async function processesAbove(platform: NodeJS.Platform): Promise<Process[]> {
  if (platform !== 'linux') return []
  const { PinTable } = await import('../attest/linux/pin-table.ts')
  const { readMachine } = await import('../attest/linux/machine.ts')
  const { ancestorsOf } = await import('../attest/linux/ancestors.ts')
  const table = new PinTable(readMachine())
  try {
    const self = table.pin(process.pid)
    return self === null ? [] : ancestorsOf(self.process, table)
  } finally {
    table.close()
  }
}
