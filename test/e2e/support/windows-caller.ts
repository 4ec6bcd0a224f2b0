// A caller that Wine runs. It fetches its orders, because Bun cannot read a pipe there: each answer is the next question.
export type Order =
  | { do: 'call'; host: string; port: number; path: string; token: string; body: object }
  | { do: 'spawn'; command: string[] }
  | { do: 'end' }

async function obey(order: Order): Promise<object> {
  if (order.do === 'end') process.exit()
  if (order.do === 'spawn') {
    const { BUN_BE_BUN: _, ...env } = process.env
    const child = Bun.spawnSync(order.command, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    return { code: child.exitCode, out: child.stdout.toString(), err: child.stderr.toString() }
  }
  const response = await fetch(`http://${order.host}:${order.port}${order.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${order.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(order.body),
  })
  return { status: response.status, body: await response.json() }
}

let answer: object = { pid: process.pid }
for (;;) {
  const asked = await fetch(process.argv[2] ?? '', { method: 'POST', body: JSON.stringify(answer) })
  answer = await obey(await asked.json())
}
