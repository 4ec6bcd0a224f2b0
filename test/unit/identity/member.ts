// One process of a family: it calls the door, starts children of its own and hands orders on to them, as it is told.
import { createInterface } from 'node:readline'

type Order = {
  /** names of the children to go through */
  path: string[]
  do: 'call' | 'spawn' | 'chdir' | 'exit'
  url: string
  name: string
  command: string[]
  env: Record<string, string>
}
type Child = { send(order: Order): Promise<string> }

const children = new Map<string, Child>()

async function* linesOf(stream: ReadableStream<Uint8Array>) {
  let text = ''
  for await (const chunk of stream) {
    text += new TextDecoder().decode(chunk)
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    yield* lines
  }
}

async function spawn({ command, env }: Order): Promise<Child> {
  const child = Bun.spawn(command, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } })
  const lines = linesOf(child.stdout)
  const next = async () => (await lines.next()).value ?? 'gone'
  await next()
  return {
    send(order) {
      child.stdin.write(`${JSON.stringify(order)}\n`)
      child.stdin.flush()
      return next()
    },
  }
}

async function obey(order: Order): Promise<string> {
  const [first, ...path] = order.path
  if (first !== undefined) return (await children.get(first)?.send({ ...order, path })) ?? `no child ${first}`
  if (order.do === 'call') await (await fetch(order.url)).text()
  if (order.do === 'chdir') process.chdir(order.url)
  if (order.do === 'spawn') children.set(order.name, await spawn(order))
  if (order.do === 'exit') setTimeout(() => process.exit(0), 1)
  return 'done'
}

process.stdout.write(`ready ${process.pid}\n`)
for await (const line of createInterface({ input: process.stdin })) {
  const order: Order = JSON.parse(line)
  process.stdout.write(`${await obey(order)}\n`)
}
process.exit()
