// Every command by its name, loaded when it is asked for: `send` starts without what `serve` needs.
import type { Command } from './command.ts'
import { usage } from './usage.ts'

const accounts = () => import('./admin/accounts.ts')
const tokens = () => import('./admin/account-tokens.ts')
const rooms = () => import('./admin/rooms.ts')
const listeners = () => import('./admin/listeners.ts')
const orphans = () => import('./admin/orphans.ts')
const clients = () => import('./client.ts')
const control = () => import('./service/control.ts')
const installed = () => import('./service/install.ts')
const link = () => import('./link/link.ts')
const linkPeers = () => import('./link/peers.ts')
const vault = () => import('./link/vault.ts')
const ack = () => import('./ack.ts').then((file) => file.ack)

/** In the order in which the list of commands shows them. */
const LOADERS: Readonly<Record<string, () => Promise<Command>>> = {
  up: () => import('./up.ts').then((file) => file.up),
  down: () => import('./down.ts').then((file) => file.down),
  doctor: () => import('./doctor.ts').then((file) => file.doctor),
  serve: () => import('./serve.ts').then((file) => file.serve),
  send: () => import('./send.ts').then((file) => file.send),
  inbox: () => import('./inbox.ts').then((file) => file.inbox),
  view: () => import('./view.ts').then((file) => file.view),
  reply: () => import('./reply.ts').then((file) => file.reply),
  ack,
  close: ack,
  reopen: () => import('./reopen.ts').then((file) => file.reopen),
  claim: () => import('./claim.ts').then((file) => file.claim),
  sent: () => import('./sent.ts').then((file) => file.sent),
  receipts: () => import('./receipts.ts').then((file) => file.receipts),
  thread: () => import('./thread.ts').then((file) => file.thread),
  search: () => import('./search.ts').then((file) => file.search),
  unread: () => import('./unread.ts').then((file) => file.unread),
  wait: () => import('./wait.ts').then((file) => file.wait),
  watch: () => import('./watch.ts').then((file) => file.watch),
  whoami: () => import('./whoami.ts').then((file) => file.whoami),
  status: () => import('./status.ts').then((file) => file.status),
  'status set': () => import('./status-set.ts').then((file) => file.statusSet),
  peers: () => import('./peers.ts').then((file) => file.peers),
  ping: () => import('./ping.ts').then((file) => file.ping),
  'admin account list': () => accounts().then((file) => file.accountList),
  'admin account add': () => tokens().then((file) => file.accountAdd),
  'admin account set': () => accounts().then((file) => file.accountSet),
  'admin account rotate': () => tokens().then((file) => file.accountRotate),
  'admin account remove': () => accounts().then((file) => file.accountRemove),
  'admin room list': () => rooms().then((file) => file.roomList),
  'admin room add': () => rooms().then((file) => file.roomAdd),
  'admin room remove': () => rooms().then((file) => file.roomRemove),
  'admin room join': () => rooms().then((file) => file.roomJoin),
  'admin room leave': () => rooms().then((file) => file.roomLeave),
  'admin listener list': () => listeners().then((file) => file.listenerList),
  'admin listener set': () => listeners().then((file) => file.listenerSet),
  'admin listener remove': () => listeners().then((file) => file.listenerRemove),
  'admin orphans list': () => orphans().then((file) => file.orphansList),
  'admin orphans release': () => orphans().then((file) => file.orphansRelease),
  'admin backup': () => import('./admin/backup.ts').then((file) => file.backup),
  'admin restore': () => import('./admin/restore.ts').then((file) => file.restore),
  'link setup': () => link().then((file) => file.linkSetup),
  'link status': () => link().then((file) => file.linkStatus),
  'link off': () => link().then((file) => file.linkOff),
  'link peer list': () => linkPeers().then((file) => file.peerList),
  'link peer add': () => linkPeers().then((file) => file.peerAdd),
  'link peer allow': () => linkPeers().then((file) => file.peerAllow),
  'link peer rotate': () => linkPeers().then((file) => file.peerRotate),
  'link peer remove': () => linkPeers().then((file) => file.peerRemove),
  'link peer pending': () => linkPeers().then((file) => file.peerPending),
  'vault status': () => vault().then((file) => file.vaultStatus),
  'vault move': () => vault().then((file) => file.vaultMove),
  'vault rotate': () => vault().then((file) => file.vaultRotate),
  'vault backup': () => vault().then((file) => file.vaultBackup),
  'vault restore': () => vault().then((file) => file.vaultRestore),
  'client list': () => clients().then((file) => file.clientList),
  'client add': () => clients().then((file) => file.clientAdd),
  'client remove': () => clients().then((file) => file.clientRemove),
  'service install': () => installed().then((file) => file.serviceInstall),
  'service uninstall': () => installed().then((file) => file.serviceUninstall),
  'service start': () => control().then((file) => file.serviceStart),
  'service stop': () => control().then((file) => file.serviceStop),
  'service status': () => control().then((file) => file.serviceStatus),
  'service logs': () => import('./service/logs.ts').then((file) => file.serviceLogs),
  hook: () => import('./hook.ts').then((file) => file.hook),
  mcp: () => import('./mcp.ts').then((file) => file.mcp),
  completion: () => import('./completion.ts').then((file) => file.completion),
  version: () => import('./version.ts').then((file) => file.version),
  help: () => import('./help.ts').then((file) => file.help),
}

export const COMMAND_NAMES: readonly string[] = Object.keys(LOADERS)

/** @throws Refusal `usage` when there is no command of that name */
export function loadCommand(name: string): Promise<Command> {
  const load = LOADERS[name]
  if (load === undefined) throw usage(`no command ${JSON.stringify(name.slice(0, 100))}`)
  return load()
}

/** All of them, each once: `close` is another name of `ack`. */
export async function loadAll(): Promise<Command[]> {
  return [...new Set(await Promise.all(COMMAND_NAMES.map(loadCommand)))]
}
