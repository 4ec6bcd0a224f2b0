// A person at matrix-js-sdk and two agents: who is named gets the text, answers come back into the same room, both ways encrypted.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Synapse } from '../support/synapse.ts'
import { Machine, until } from './link-machines.ts'
import { Person } from './person.ts'

let synapse: Synapse
let desk: Machine
let person: Person
let room = ''

const hear: Person['hear'] = (what, test) => person.hear(what, test)
const order = (what: object) => person.order(what)
const letter = (body: string) => until(body, async () => (await desk.inbox()).find((one) => one.body === body))

beforeAll(async () => {
  synapse = await Synapse.start()
  desk = await Machine.start(synapse, 'dexter', 'codex')
  await desk.box.account('gemini')
  person = await Person.start(synapse, 'lukas', desk.box.root)
}, 300_000)

afterAll(async () => {
  await person?.end()
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

test('texts that were there before the room was seen become mail, the newest alone may wake; after a restart none comes again', async () => {
  await desk.box.admin('link/peer/allow', { name: 'lukas', wake: true })
  await desk.box.down()
  order({ leave: '@dexter:localhost', words: ['@codex one', '@codex two', '@codex three'] })
  const left = await hear('three words', (one) => one.left)
  await desk.box.up()
  await letter('three')
  const quiet = async () =>
    (await desk.inbox())
      .filter(({ body }) => ['one', 'two', 'three'].includes(body))
      .map(({ body, wake_suppressed: why }) => [body, why])
  const expected = [
    ['one', 'history'],
    ['two', 'history'],
    ['three', undefined],
  ]
  expect(await quiet()).toEqual(expected)
  await desk.box.down('SIGKILL')
  await desk.box.up()
  order({ say: '@codex four', room: left.left })
  const four = await letter('four')
  expect(four.wake_suppressed).toBeUndefined()
  expect(await quiet()).toEqual(expected)
})
