// What each command prints with --json: the operation whose answer it is, or what its own object has.
import type { AdminRoute } from '../wire/admin.ts'
import type { OperationName } from '../wire/operations.ts'
import type { UiRoute } from '../wire/ui.ts'

export type Printed = OperationName | `admin/${AdminRoute}` | `ui/${UiRoute}` | { own: string }

const own = (members: string): Printed => ({ own: members })

/** Commands with commas between them → what they print. An own object's members stand with commas, too. */
export const PRINTED: readonly (readonly [commands: string, printed: Printed])[] = [
  ['send, email, reply, dispatch', 'send'],
  ['inbox', 'inbox'],
  ['view', 'get'],
  ['ack, close', 'ack'],
  ['reopen', 'reopen'],
  ['claim', 'claim'],
  ['sent', 'sent'],
  ['receipts', 'receipts'],
  ['thread', 'thread'],
  ['search', 'search'],
  ['archive', 'archive'],
  ['unread', 'unread'],
  ['wait', 'follow'],
  ['whoami', 'whoami'],
  ['status', own('health, whoami, refusal?')],
  ['status set', 'status'],
  ['peers', 'directory'],
  ['contacts', 'contacts'],
  ['contacts alias', own('aliases, now')],
  ['contacts alias add, contacts alias remove', 'alias'],
  ['rooms, rooms show, rooms members', 'rooms'],
  ['rooms join, rooms leave', 'join'],
  ['stats', 'stats'],
  ['ping', 'ping'],
  ['notify', 'notify'],
  ['top', 'admin/overview'],
  ['ui', 'ui/link'],
  ['up, client add', own('daemon, person, made, clients, letters; with --dry-run clients, with up also runs, service')],
  ['down', own('files, daemon, purged')],
  ['doctor', own('ok, findings, mendable, fixed, unfixed')],
  ['client list', own('clients')],
  ['client remove', own('files')],
  [
    'service start, service stop, service status',
    own('manager, name, file, installed, active, state, pid, restarts, reason'),
  ],
  ['service install', own('service, note; with --print changes')],
  ['service uninstall', own('name, removed')],
  ['service logs', own('lines')],
  ['upgrade', own('program, before, after, checksum, store_schema, known_schema, swap, restart, previous, dry_run')],
  ['serve', own('url, port, socket, listening, data_dir, attestation')],
  ['export', own('path, letters; without a file the lines of the export itself')],
  [
    'import, import aipass',
    own(
      'source, dry_run, added, known, states, accounts_made, rooms_made, unknown_names, unknown_contacts, changed, problems, found?',
    ),
  ],
  ['completion', own('shell, script; of accounts: accounts')],
  ['version', own('name, version, schema, bun')],
  ['help', own('name, aliases, summary, usage, options; several: a list; a topic: name, title, text')],
  ['dispatch wake', 'dispatch_wake'],
  ['dispatch status', 'dispatch_status'],
  ['dispatch show, dispatch watch', 'dispatch_show'],
  ['dispatch logs', 'dispatch_logs'],
  ['dispatch stop', 'dispatch_stop'],
  ['dispatch pause', 'admin/dispatch/pause'],
  ['dispatch resume', 'admin/dispatch/resume'],
  ['agent list', 'admin/agent/list'],
  ['agent add', 'admin/agent'],
  ['agent set', 'admin/agent/set'],
  ['agent remove', 'admin/agent/remove'],
  ['admin account list', 'admin/participant/list'],
  ['admin account add, admin account rotate', own('id, token_file, secret?')],
  ['admin account set', 'admin/participant/set'],
  ['admin account remove', 'admin/participant/remove'],
  ['admin room list', 'admin/room/list'],
  ['admin room add, admin room remove', 'admin/room'],
  ['admin room join, admin room leave', own('')],
  ['admin listener list', 'admin/listener/list'],
  ['admin listener set', 'admin/listener'],
  ['admin listener remove', 'admin/listener/remove'],
  ['admin orphans list', 'admin/orphan/list'],
  ['admin orphans release', 'admin/orphan/release'],
  ['admin backup', 'admin/backup'],
  [
    'admin restore',
    own('restored, kept, version, epoch, head, messages, deliveries, accounts; with --check file for restored, kept'),
  ],
  ['admin retention', 'admin/retention'],
]

/** What speaks a protocol of its own, or one message a line. */
export const NO_OBJECT: readonly string[] = ['watch', 'hook', 'mcp', 'dispatch attend']
