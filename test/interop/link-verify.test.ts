// Keys compared with matrix-js-sdk by pictures: what both sides saw is pinned, what they did not see alike is an alarm.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { BINARY } from '../e2e/support/mailbox.ts'
import { Synapse } from '../support/synapse.ts'
import { type Answer, Machine, until } from './link-machines.ts'
import { Person } from './link-person.ts'

let synapse: Synapse
let desk: Machine
let person: Person
let room = ''

beforeAll(async () => {
  synapse = await Synapse.start()
  desk = await Machine.start(synapse, 'vroni', 'codex')
  person = await Person.start(synapse, 'paula')
}, 300_000)

afterAll(async () => {
  await desk?.[Symbol.asyncDispose]()
  await synapse?.[Symbol.asyncDispose]()
})

/** The command as a process; `seen` resolves to what it shows before it asks. */
function verify(argv: string[]) {
  const child = Bun.spawn([BINARY, 'link', 'verify', ...argv, '--json', '--data-dir', desk.box.data], {
    env: { PATH: process.env.PATH ?? '', HOME: desk.box.root, M4A_RECOGNISED_AGENTS: '' },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let shown = ''
  const reading = (async () => {
    for await (const chunk of child.stderr) shown += Buffer.from(chunk).toString()
  })()
  return {
    seen: () => until('pictures', async () => (shown.includes('or in numbers') ? shown : null), 60_000),
    async say(word: string) {
      child.stdin.write(`${word}\n`)
      await child.stdin.end()
    },
    async end() {
      const out = await new Response(child.stdout).text()
      await reading
      return { code: await child.exited, out, err: shown }
    },
  }
}

const picturesIn = (text: string): string[] =>
  text.split('\n').flatMap((line) => /^ {2}(\S+) {2}\S/.exec(line)?.[1]?.replace('\ufe0f', '') ?? [])
const plain = (pictures: string[]) => pictures.map((one) => one.replace('\ufe0f', ''))

test('somebody whom nobody has pinned is asked, compared, and pinned by the key of the account', async () => {
  const command = verify(['paula', '@paula:localhost', '--master', '--person', '--account', '*'])
  const { joined } = await person.hear('the invitation', (one) => one.joined)
  await person.hear('the question', (one) => one.asked === '@vroni:localhost')
  person.order({ accept: true })
  const { pictures, decimals } = await person.hear('pictures', (one) => one.pictures)
  const shown = await command.seen()
  expect(picturesIn(shown)).toEqual(plain(pictures))
  expect(pictures).toHaveLength(7)
  expect(shown).toContain(decimals.join(' '))
  await command.say('yes')
  person.order({ same: true })
  expect(await person.hear('the end', (one) => 'compared' in one)).toMatchObject({ compared: true })
  const { code, out, err } = await command.end()
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
  const peer = JSON.parse(out)
  expect(peer).toMatchObject({ name: 'paula', by: 'master', person: true, accounts: ['*'] })
  expect(peer.fingerprint.replaceAll(' ', '')).toBe(person.key)
  room = joined
  const { device } = (await desk.status()).identity
  person.order({ trust: '@vroni:localhost', device })
  expect(await person.hear('its trust', (one) => 'trusts' in one)).toMatchObject({ trusts: true, user: true })
})

test('what the other side asks in the chat waits for a person here, and pins the device', async () => {
  const opened = room
  person.order({ say: '@codex before', room: opened })
  await until('mail', async () => (await desk.inbox()).some((one) => one.body === 'before'))
  person.order({ askIn: opened, user: '@vroni:localhost' })
  const asking = await until('it asks', async () => {
    const { verifications } = (await desk.box.admin('link/verify/list', {})) as Answer
    return verifications.find((one: Answer) => one.stage === 'asks')
  })
  expect(asking).toMatchObject({ user: '@paula:localhost', name: 'paula', emoji: [] })
  const command = verify(['paula'])
  const { pictures } = await person.hear('pictures', (one) => one.pictures)
  expect(picturesIn(await command.seen())).toEqual(plain(pictures))
  person.order({ same: true })
  await command.say('yes')
  expect(await person.hear('the end', (one) => 'compared' in one)).toMatchObject({ compared: true })
  expect(await command.end()).toMatchObject({ code: 0 })
  // and what is said in the room afterwards is for pinned devices, as before
  await desk.send('paula@paula', 'after', 'still encrypted')
  expect(await person.hear('the mail', (one) => one.body?.includes('still encrypted'))).toMatchObject({ room: opened })
})

test('where the pictures differ nothing is pinned, and mail to that peer stops until it is verified again', async () => {
  const command = verify(['paula'])
  await person.hear('the question', (one) => one.asked)
  person.order({ accept: true })
  await person.hear('pictures', (one) => one.pictures)
  await command.seen()
  await command.say('no')
  expect(await person.hear('the end', (one) => 'compared' in one)).toMatchObject({ compared: false })
  const { code, err } = await command.end()
  expect(code).toBe(1)
  expect(err).toContain('not_verified')
  expect(await desk.peer('paula')).toMatchObject({
    state: 'alarm',
    reason: expect.stringContaining('saw something else'),
  })
  const sent = await desk.send('paula@paula', 'into the alarm', 'b')
  await until('it waits', async () => (await desk.receipt(sent.message_id)).remote.reason?.includes('comparison'))
  // it outlives a restart, and what comes is kept apart
  await desk.box.down()
  await desk.box.up()
  await until('the alarm', async () => (await desk.peer('paula'))?.state === 'alarm')
  const again = verify(['paula'])
  await person.hear('the question', (one) => one.asked)
  person.order({ accept: true })
  await person.hear('pictures', (one) => one.pictures)
  await again.seen()
  person.order({ same: true })
  await again.say('yes')
  expect(await again.end()).toMatchObject({ code: 0 })
  await person.hear('what waited', (one) => one.body?.includes('into the alarm'))
})

test('when the other side says no, that is an alarm here too', async () => {
  const command = verify(['paula'])
  await person.hear('the question', (one) => one.asked)
  person.order({ accept: true })
  await person.hear('pictures', (one) => one.pictures)
  await command.seen()
  person.order({ same: false })
  await until('the alarm', async () => (await desk.peer('paula')).state === 'alarm')
  await command.say('yes')
  expect((await command.end()).code).not.toBe(0)
})
