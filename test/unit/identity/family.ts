// A door, a mailbox in memory, and families of real processes that call it: who each of them is taken for.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openAttestor, type Process } from '../../../src/attest/attestor.ts'
import type { Caller } from '../../../src/engine/mail.ts'
import { type Identity, type IdentityOptions, openIdentity, type Said } from '../../../src/identity/identify.ts'
import { openStore } from '../../../src/store/open.ts'
import type { AccountRow } from '../../../src/store/rows.ts'
import { Refusal } from '../../../src/wire/refusal.ts'
import { openDoor } from '../attest/support.ts'

const MEMBER = join(import.meta.dir, 'member.ts')

/** Command lines of members, under scripts that look as the clients' packages do. */
export function scripts() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'm4a-family-')))
  const script = (name: string) => {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `await import(${JSON.stringify(MEMBER)})\n`)
    return path
  }
  return {
    folder,
    plain: [process.execPath, MEMBER],
    claude: [process.execPath, script('node_modules/@anthropic-ai/claude-code/cli.js')],
    codex: [process.execPath, script('node_modules/@openai/codex/bin/codex.js')],
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

type Call = { account: AccountRow; said?: Said; mcp?: boolean }

export async function openHouse(options: Partial<IdentityOptions> = {}) {
  const store = await openStore(':memory:')
  const attestor = openAttestor()
  const door = openDoor(attestor)
  const logged: string[] = []
  const settings = { recognised: ['claude', 'codex'], log: (line: string) => logged.push(line), ...options }
  const families: Bun.Subprocess[] = []
  const house = {
    store,
    attestor,
    logged,
    identity: openIdentity(store, attestor, settings),
    /** The mailbox starts anew on the same store. */
    restart(): Identity {
      house.identity = openIdentity(store, attestor, settings)
      return house.identity
    },
    async family(command: string[], env: Record<string, string> = {}) {
      // an agent may be running these tests: its model is none of theirs
      const around = { ...process.env, ANTHROPIC_MODEL: undefined, ...env }
      const child = Bun.spawn(command, { stdio: ['pipe', 'pipe', 'inherit'], env: around })
      families.push(child)
      const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
      const answer = async () => (await reader.read()).value
      await answer()
      const order = async (path: string[], what: object) => {
        child.stdin.write(`${JSON.stringify({ path, url: '', name: '', command: [], env: {}, ...what })}\n`)
        child.stdin.flush()
        const said = (await answer())?.trim()
        if (said !== 'done') throw new Error(`a member said ${said}`)
      }
      const verdict = async (path: string[]) => {
        const called = order(path, { do: 'call', url: door.url })
        const found = await door.verdicts.next()
        await called
        return found
      }
      return {
        pid: child.pid,
        spawn: (path: string[], name: string, command: string[], env = {}) =>
          order(path, { do: 'spawn', name, command, env }),
        chdir: (path: string[], url: string) => order(path, { do: 'chdir', url }),
        exit: (path: string[]) => order(path, { do: 'exit' }),
        verdict,
        async process(path: string[]): Promise<Process> {
          const found = await verdict(path)
          if (!found.ok) throw new Error(`refused: ${found.kind}`)
          return found.process
        },
        /** The member at `path` calls; who it is taken for. */
        async call(path: string[], { account, said = {}, mcp = false }: Call): Promise<Caller> {
          return house.identity.caller(account, await verdict(path), said, mcp)
        },
        async kill() {
          child.kill('SIGKILL')
          await child.exited
        },
      }
    },
    async close() {
      for (const child of families) {
        child.kill('SIGKILL')
        await child.exited
      }
      door.close()
      attestor.close()
      await store.close()
    },
  }
  return house
}

export type House = Awaited<ReturnType<typeof openHouse>>

/** The kind of refusal that a call ends with; it has to be one. */
export async function refused(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => null,
    (caught: unknown) => caught,
  )
  if (error instanceof Refusal) return error.kind
  throw error ?? new Error('it was not refused')
}
