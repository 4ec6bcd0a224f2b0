// Resolving addresses: laws over every way to write one.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Caller } from '../../../src/engine/mail.ts'
import { deliveriesOf, resolve } from '../../../src/engine/recipients.ts'
import { type AddressInput, parseAddress } from '../../../src/wire/address.ts'
import { addressOf, World } from './world.ts'

let world: World
let sender: Caller
let sessions: Caller[]

beforeEach(async () => {
  world = await World.open()
  sender = await world.session(await world.account('Sender'))
  const accounts = [await world.account('Ab.c'), await world.account('x+y_z')]
  sessions = []
  for (const account of accounts) for (const name of ['1111', '2222']) sessions.push(await world.session(account, name))
  await world.room('Room-1', sender.account, ...accounts)
})
afterEach(() => world.close())

/** Every mailbox that can be written to, by its full compact address. */
const targets = () => ['#Room-1', ...new Set(sessions.map(({ account }) => account.name)), ...sessions.map(addressOf)]

/** One of the ways to write an address. */
type Spelling = { target: number; upper: boolean; at: boolean; object: boolean; digits: number }
const spelling: fc.Arbitrary<Spelling> = fc.record({
  target: fc.nat(),
  upper: fc.boolean(),
  at: fc.boolean(),
  object: fc.boolean(),
  digits: fc.integer({ min: 4, max: 32 }),
})

function spell({ target, upper, at, object, digits }: Spelling): { full: string; input: AddressInput } {
  const all = targets()
  const full = all[target % all.length] ?? ''
  const [name = '', session] = full.split('/')
  const written = upper ? name.toUpperCase() : name
  const text = session ? `${written}/${session.slice(0, 2 + digits)}` : written
  if (object) return { full, input: parseAddress(text) }
  return { full, input: at && !text.startsWith('#') ? `@${text}` : text }
}

test('property: however it is written, an address reaches the same mailbox and is shown as registered', () => {
  fc.assert(
    fc.property(spelling, (one) => {
      const { full, input } = spell(one)
      const [resolved] = resolve(world.mail, sender, [input])
      expect(resolved).toMatchObject({ text: full, refusal: null })
      expect(resolved?.deliveries.every((to) => to.text === full)).toBe(true)
    }),
  )
})

test('property: each reader gets one delivery, and every address that was named reaches somebody', () => {
  fc.assert(
    fc.property(fc.array(spelling, { minLength: 1, maxLength: 8 }), (spellings) => {
      const inputs = spellings.map(spell)
      const resolved = resolve(
        world.mail,
        sender,
        inputs.map(({ input }) => input),
      )
      expect(resolved.map((one) => one.text)).toEqual([...new Set(inputs.map(({ full }) => full))])
      const deliveries = deliveriesOf(resolved)
      expect(new Set(deliveries.map((to) => to.box)).size).toBe(deliveries.length)
      for (const { account, session } of sessions) {
        const copies = deliveries.filter((to) => to.box === account.box || to.box === session.box)
        const named = resolved.flatMap((one) => one.deliveries)
        const reached = named.some((to) => to.box === account.box || to.box === session.box)
        expect(copies).toHaveLength(reached ? 1 : 0)
      }
    }),
  )
})
