// The agent client that runs this command, by the nearest recognised process above us. It finds a token and proves nothing.
import { openAttestor } from '../attest/attestor.ts'
import { recogniser } from '../identity/recognised.ts'
import { recognisedFor } from './config.ts'
import type { Io } from './io.ts'

/** The client's name, such as `claude`, and its arguments; null where none is above, or where this platform cannot tell. */
export async function clientAbove(io: Io): Promise<{ client: string; argv: readonly string[] } | null> {
  const recognise = recogniser(recognisedFor(io))
  const attestor = openAttestor()
  try {
    const self = attestor.self()
    for (const process of self === null ? [] : attestor.ancestors(self)) {
      const found = recognise(process)
      if (found !== null) return { client: found.client, argv: process.argv }
    }
    return null
  } finally {
    attestor.close()
  }
}

/** Its name alone. */
export const agentAbove = async (io: Io): Promise<string | null> => (await clientAbove(io))?.client ?? null
