// Whom the questions of send offer: what can be written to now.
import { expect, test } from 'bun:test'
import { addressees } from '../../../src/cli/compose.ts'
import { now } from './canned.ts'

const traffic = { sent: 0, heard: 0, last_written_at: null, last_heard_at: null }
const account = (id: string) => ({ id, label: null, kind: 'agent', live_sessions: [], last_seen: null, ...traffic })
const room = (id: string, member: boolean) => ({ id, label: null, member, ...traffic })

test('accounts, own rooms, and aliases that lead somewhere', () => {
  const alias = (name: string, address: string) => ({ name, address })
  const offered = addressees(
    {
      accounts: [account('claude'), account('Codex')],
      rooms: [room('build', true), room('other', false)],
      aliases: [
        alias('lead', 'codex/s-7f3a91c0'),
        alias('gone', 'nosuch'),
        alias('myself', 'me'),
        alias('team', '#build'),
        alias('left', '#other'),
      ],
      machines: [],
      has_more: false,
      after: null,
      now,
    },
    'me',
  )
  expect(offered.map(({ value }) => value)).toEqual(['lead', 'myself', 'team', 'claude', 'Codex', '#build'])
})
