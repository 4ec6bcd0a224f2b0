// A person at matrix-js-sdk and two agents: who is named gets the text, answers come back into the same room, both ways encrypted.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Synapse } from '../support/synapse.ts'
import { packageFolder } from './install.ts'
import { type Answer, Machine, until } from './link-machines.ts'

let synapse: Synapse
let desk: Machine
let person: Bun.Subprocess<'pipe', 'pipe', 'inherit'>
let room = ''
const told: Answer[] = []

const hear = <T>(what: string, test: (one: Answer) => T) =>
  until(what, async () => {
    const found = told.find((one) => test(one))
    if (found) told.splice(told.indexOf(found), 1)
    return found
  })
const order = (what: object) => {
  person.stdin.write(`${JSON.stringify(what)}\n`)
  person.stdin.flush()
}
const letter = (body: string) => until(body, async () => (await desk.inbox()).find((one) => one.body === body))

beforeAll(async () => {
  synapse = await Synapse.start()
  desk = await Machine.start(synapse, 'dexter', 'codex')
  await desk.box.account('gemini')
  person = Bun.spawn([process.execPath, join(import.meta.dir, 'person-process.ts')], {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: desk.box.root,
      SDK: await packageFolder('matrix-js-sdk', '43.0.0'),
      HOMESERVER: synapse.url,
      NAME: 'lukas',
    },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  void (async () => {
    let rest = ''
    for await (const chunk of person.stdout) {
      rest += Buffer.from(chunk).toString()
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.startsWith('{')) told.push(JSON.parse(line))
    }
  })()
}, 300_000)

afterAll(async () => {
  person?.kill()
  await desk?.[Symbol.asyncDispose]()
  await synapse?.[Symbol.asyncDispose]()
})

test('a person is pinned by the key of the account, and opens a chat', async () => {
  const { user, key } = await hear('the key', (one) => one.key)
  const added = await desk.cli([
    'link',
    'peer',
    'add',
    'lukas',
    user,
    key,
    '--master',
    '--person',
    '--account',
    '*',
    '--json',
  ])
  expect(JSON.parse(added.out)).toMatchObject({ by: 'master', person: true, state: 'ready' })
  order({ open: '@dexter:localhost' })
  room = (await hear('the room', (one) => one.opened)).opened
})

test('who is named gets the text; the answer hangs on it in the same room', async () => {
  order({ say: '@codex please look at the build', room })
  const { said } = await hear('it is said', (one) => one.said)
  const mail = await letter('please look at the build')
  expect(mail).toMatchObject({ attested_by: 'lukas', hop: 0, subject: 'please look at the build', to_text: 'codex' })
  expect(mail.from_text).toMatch(/^lukas@lukas\/s-[0-9a-f]{32}$/)
  await desk.agent.ask('http', 'send', { reply_to: mail.message_id, body: 'it is green' })
  const answer = await hear('the answer', (one) => one.body?.includes('green'))
  expect(answer).toMatchObject({ room, msgtype: 'm.text', body: '[codex] it is green', answers: said })
  // an answer to that needs no name
  order({ say: 'thanks a lot', room, answers: answer.id })
  const thanks = await letter('thanks a lot')
  expect(thanks).toMatchObject({ thread: mail.thread })
})

test('where nobody is named and several could be meant, the person is asked', async () => {
  order({ say: 'hello everybody', room })
  const asked = await hear('the question', (one) => one.msgtype === 'm.notice')
  expect(asked.body).toBe('Which agent? Begin with @name; there are: codex, gemini')
  expect((await desk.inbox()).some((one) => one.body === 'hello everybody')).toBe(false)
})

test('an agent writes first, and the person reads it', async () => {
  const sent = await desk.send('lukas@lukas', 'release', 'it is out')
  const read = await hear('the text', (one) => one.body?.includes('release'))
  expect(read).toMatchObject({ body: '[codex] release\n\nit is out', room })
  await until('sent', async () => (await desk.receipt(sent.message_id)).remote.state === 'sent')
})
