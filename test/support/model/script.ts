// The model behind one agent, spoken by the test: each request of the client waits until the test says what to answer.
import type { Json } from '../json.ts'
import type { Asked, Refused, Reply, Tool, ToolResult } from './model-api.ts'

type Parked = { asked: Asked; answer: (reply: Reply) => void }

/** A client that did not ask within this time is stuck; in milliseconds. */
const PATIENCE = 60_000

export class Script {
  /** Every request that reached this model, oldest first. */
  readonly log: Asked[] = []
  /** While this is set every request is refused so, as often as the client tries. */
  refused: Refused | null = null
  readonly #parked: Parked[] = []
  #arrived: () => void = () => {}

  /** Called by the model server: parks a request until the test answers it. A client that leaves gives its place up. */
  take(asked: Asked, signal: AbortSignal): Promise<Reply | Refused> {
    this.log.push(asked)
    if (this.refused) return Promise.resolve(this.refused)
    if (isSideJob(asked)) return Promise.resolve({ say: 'ok' })
    return new Promise((answer) => {
      const parked = { asked, answer }
      this.#parked.push(parked)
      signal.addEventListener('abort', () => this.#drop(parked))
      this.#arrived()
    })
  }

  /**
   * Lets the agent call `tool` (its own name or the part after the client's prefix) and waits for what it gave.
   * `signal` ends the wait when the client has died. Throws when the client does not offer the tool or does not return.
   */
  async call(tool: string, args: Json = {}, signal?: AbortSignal): Promise<ToolResult> {
    const { asked, answer } = await this.#next(signal)
    const offered = find(asked.tools, tool)
    const id = `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 20)}`
    this.#parked.shift()
    answer({ id, tool: offered, args })
    const after = await this.#next(signal)
    const result = after.asked.results.find((one) => one.id === id)
    if (!result) throw new Error(`the client asked again without the result of ${tool}`)
    return result
  }

  /** Ends the agent's turn with a text. */
  async say(words: string, signal?: AbortSignal): Promise<void> {
    const { answer } = await this.#next(signal)
    this.#parked.shift()
    answer({ say: words })
  }

  /** The tools of the client's newest request. */
  async tools(signal?: AbortSignal): Promise<string[]> {
    const { asked } = await this.#next(signal)
    return asked.tools.map((tool) => tool.name)
  }

  #drop(parked: Parked): void {
    const at = this.#parked.indexOf(parked)
    if (at >= 0) this.#parked.splice(at, 1)
  }

  /** The oldest parked request, left in place. */
  async #next(signal?: AbortSignal): Promise<Parked> {
    const deadline = performance.now() + PATIENCE
    for (;;) {
      const first = this.#parked[0]
      if (first) return first
      signal?.throwIfAborted()
      if (performance.now() > deadline) throw new Error(`the agent's client asked its model nothing for ${PATIENCE} ms`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, deadline - performance.now() + 1)
        this.#arrived = () => {
          clearTimeout(timer)
          resolve()
        }
        signal?.addEventListener('abort', this.#arrived, { once: true })
      })
    }
  }
}

/** A title or a summary, for which the client offers no tool, or Grok the one that sets it: no line of the script. */
const isSideJob = ({ tools }: Asked): boolean => tools.every(({ name }) => name === 'session_title')

/** Clients put a prefix of their own before the tool of an MCP server: `mcp__mailbox__x`, `mailbox_x`, `mailbox-x`. */
function find(tools: Tool[], name: string): Tool {
  const found = tools.find((tool) => tool.name === name) ?? tools.find((tool) => /[_-]$/.test(before(tool, name)))
  if (!found) throw new Error(`the client offers no tool ${name}, only ${tools.map((tool) => tool.name).join(' ')}`)
  return found
}

/** What stands before `name` in the tool's own; empty where that does not end with it. */
const before = (tool: Tool, name: string): string => (tool.name.endsWith(name) ? tool.name.slice(0, -name.length) : '')
