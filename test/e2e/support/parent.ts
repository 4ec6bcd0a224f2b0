// A program that is a session: it calls whoami, prints the answer, then starts what the lines of its input name.
const order = JSON.parse(process.argv[2] ?? '{}')

const response = await fetch(`http://127.0.0.1:${order.port}/mail/whoami`, {
  method: 'POST',
  headers: { authorization: `Bearer ${order.token}` },
})
process.stdout.write(`${JSON.stringify({ status: response.status, body: await response.json() })}\n`)
for await (const line of console) Bun.spawn(JSON.parse(line), { stdin: 'ignore', stdout: 'inherit', stderr: 'inherit' })

export {}
