// The table of checks, in the order in which people read them: the machine, the mailbox, then who uses it.
import { attestation } from './attestation.ts'
import type { Check } from './checkup.ts'
import { CLIENTS_MS, clients } from './clients.ts'
import { clock } from './clock.ts'
import { config } from './config.ts'
import { doors } from './doors.ts'
import { folders } from './folders.ts'
import { link } from './link.ts'
import { mailbox } from './mailbox.ts'
import { operator } from './operator.ts'
import { permissions } from './permissions.ts'
import { platform } from './platform.ts'
import { port } from './port.ts'
import { service } from './service.ts'
import { socket } from './socket.ts'
import { space } from './space.ts'
import { STORE_MS, store } from './store.ts'
import { UNREAD_MS, unread } from './unread.ts'

const USUAL = 10_000

export const CHECKS: readonly Check[] = [
  { name: 'platform', deadline: USUAL, run: platform },
  { name: 'attestation', deadline: 15_000, run: attestation },
  { name: 'folders', deadline: USUAL, run: folders },
  { name: 'permissions', deadline: USUAL, run: permissions },
  { name: 'space', deadline: USUAL, run: space },
  { name: 'config', deadline: USUAL, run: config },
  { name: 'port', deadline: USUAL, run: port },
  { name: 'socket', deadline: USUAL, run: socket },
  // its mending starts a mailbox, so what is in the way of that comes before
  { name: 'mailbox', deadline: USUAL, run: mailbox },
  { name: 'service', deadline: USUAL, run: service },
  { name: 'store', deadline: STORE_MS, alone: true, run: store },
  { name: 'operator', deadline: USUAL, run: operator },
  { name: 'clock', deadline: USUAL, run: clock },
  { name: 'client', deadline: CLIENTS_MS, run: clients },
  { name: 'door', deadline: USUAL, run: doors },
  { name: 'unread', deadline: UNREAD_MS, run: unread },
  { name: 'link', deadline: USUAL, run: link },
]
