// A store of before the mailbox had one account of its own: what the other one wrote stays, and its name is free.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { openStore } from '../../../src/store/open.ts'
import { MIGRATIONS } from '../../../src/store/schema.ts'
import { tempFolder } from '../../support/temp.ts'
import { World } from '../engine/world.ts'

const FORMER = "label = 'the mailbox itself'"

test('letters of the former account stay readable, their writer is gone, and the mailbox writes under one name', async () => {
  using folder = tempFolder()
  const path = join(folder.path, 'mail.sqlite')
  let world = new World(await openStore(path))
  const pat = await world.session(await world.account('pat', { operator: true }, 'person'))
  const none = { send: false, read: false, dispatch: false, behalf: false, operator: false }
  const former = await world.session(await world.account('postmaster', none))
  // nobody's account of a person's own choosing is taken for it
  await world.account('postmaster-2', none)
  const { message_id } = await world.call(
    { ...former, account: { ...former.account, can: { ...none, send: true } } },
    'send',
    {
      to: 'pat',
      subject: 'Undone: work',
      body: 'it crashed',
    },
  )
  await world.close()

  // as the version before left it
  const db = new Database(path)
  db.run("UPDATE account SET label = 'the mailbox itself' WHERE name = 'postmaster'")
  db.run('ALTER TABLE event DROP COLUMN dispatch')
  db.run('ALTER TABLE event DROP COLUMN attempt')
  db.run(`PRAGMA user_version = ${MIGRATIONS.length - 1}`)
  db.close()

  world = new World(await openStore(path))
  const { registry, people } = world.store
  expect(registry.account('postmaster')).toBeUndefined()
  expect(registry.account('postmaster-2')).toBeDefined()
  expect(registry.sessionById(former.session.id)).toBeUndefined()
  expect(
    new Database(path).query(`SELECT count(*) AS n FROM account WHERE ${FORMER} AND removed IS NULL`).get(),
  ).toEqual({ n: 0 })
  const again = await world.session(registry.account('pat') ?? pat.account)
  const letter = await world.call(again, 'get', { message_id })
  expect(letter).toMatchObject({ subject: 'Undone: work', body: 'it crashed' })
  expect(letter.from_text).toStartWith('postmaster/')
  expect((await world.refusal(again, 'send', { reply_to: message_id, body: 'thanks' })).kind).toBe(
    'unknown_participant',
  )
  expect((await people.system()).account.name).toBe('mail4agent')
  await world.account('postmaster')
  await world.close()
})
