// Every command by its name, loaded when it is asked for: `send` starts without what `serve` needs.
import type { Command } from './command.ts'
import { usage } from './usage.ts'

const accounts = () => import('./admin/accounts.ts')
const tokens = () => import('./admin/account-tokens.ts')
const rooms = () => import('./admin/rooms.ts')
const listeners = () => import('./admin/listeners.ts')
const orphans = () => import('./admin/orphans.ts')
const clients = () => import('./client.ts')
const wakes = () => import('./wake/set.ts')
const wakeKeys = () => import('./wake/keys.ts')
const control = () => import('./service/control.ts')
const installed = () => import('./service/install.ts')
const contacts = () => import('./contacts.ts')
const myRooms = () => import('./rooms.ts')
const send = () => import('./send.ts').then((file) => file.send)
const runs = () => import('./stop.ts')
const agents = () => import('./agents.ts')
const dispatches = () => import('./dispatch/look.ts')
const dispatchControl = () => import('./dispatch/control.ts')
const link = () => import('./link/link.ts')
const linkPeers = () => import('./link/peers.ts')
const chatRead = () => import('./chat/read.ts')
const chatWrite = () => import('./chat/write.ts')
const chatRooms = () => import('./chat/rooms.ts')
const chatMarks = () => import('./chat/marks.ts')
const linkVerify = () => import('./link/verify.ts')
const vault = () => import('./link/vault.ts')
const ack = () => import('./ack.ts').then((file) => file.ack)

/** In the order in which the list of commands shows them. */
const LOADERS: Readonly<Record<string, () => Promise<Command>>> = {
  up: () => import('./up.ts').then((file) => file.up),
  down: () => import('./down.ts').then((file) => file.down),
  doctor: () => import('./doctor.ts').then((file) => file.doctor),
  start: () => runs().then((file) => file.start),
  stop: () => runs().then((file) => file.stop),
  restart: () => runs().then((file) => file.restart),
  upgrade: () => import('./upgrade.ts').then((file) => file.upgrade),
  serve: () => import('./serve.ts').then((file) => file.serve),
  send,
  email: send,
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
  archive: () => import('./archive.ts').then((file) => file.archive),
  export: () => import('./export.ts').then((file) => file.exportCommand),
  import: () => import('./import.ts').then((file) => file.importCommand),
  'import aipass': () => import('./import-aipass.ts').then((file) => file.importAipass),
  unread: () => import('./unread.ts').then((file) => file.unread),
  wait: () => import('./wait.ts').then((file) => file.wait),
  watch: () => import('./watch.ts').then((file) => file.watch),
  whoami: () => import('./whoami.ts').then((file) => file.whoami),
  status: () => import('./status.ts').then((file) => file.status),
  'status set': () => import('./status-set.ts').then((file) => file.statusSet),
  peers: () => import('./peers.ts').then((file) => file.peers),
  contacts: () => contacts().then((file) => file.contacts),
  'contacts alias': () => contacts().then((file) => file.aliasList),
  'contacts alias add': () => contacts().then((file) => file.aliasAdd),
  'contacts alias remove': () => contacts().then((file) => file.aliasRemove),
  rooms: () => myRooms().then((file) => file.rooms),
  'rooms show': () => myRooms().then((file) => file.roomShow),
  'rooms members': () => myRooms().then((file) => file.roomsMembers),
  'rooms join': () => myRooms().then((file) => file.roomsJoin),
  'rooms leave': () => myRooms().then((file) => file.roomsLeave),
  stats: () => import('./stats.ts').then((file) => file.stats),
  top: () => import('./top.ts').then((file) => file.top),
  ui: () => import('./ui.ts').then((file) => file.ui),
  ping: () => import('./ping.ts').then((file) => file.ping),
  notify: () => import('./notify.ts').then((file) => file.notify),
  dispatch: () => import('./dispatch/dispatch.ts').then((file) => file.dispatch),
  'dispatch wake': () => import('./dispatch/dispatch.ts').then((file) => file.dispatchWake),
  'dispatch status': () => dispatches().then((file) => file.dispatchStatus),
  'dispatch show': () => dispatches().then((file) => file.dispatchShow),
  'dispatch watch': () => import('./dispatch/watch.ts').then((file) => file.dispatchWatch),
  'dispatch logs': () => dispatches().then((file) => file.dispatchLogs),
  'dispatch stop': () => dispatchControl().then((file) => file.dispatchStop),
  'dispatch pause': () => dispatchControl().then((file) => file.dispatchPause),
  'dispatch resume': () => dispatchControl().then((file) => file.dispatchResume),
  'dispatch attend': () => dispatchControl().then((file) => file.dispatchAttend),
  'agent list': () => agents().then((file) => file.agentList),
  'agent add': () => agents().then((file) => file.agentAdd),
  'agent set': () => agents().then((file) => file.agentSet),
  'agent remove': () => agents().then((file) => file.agentRemove),
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
  'admin retention': () => import('./admin/retention.ts').then((file) => file.retention),
  'link setup': () => link().then((file) => file.linkSetup),
  'link status': () => link().then((file) => file.linkStatus),
  'link off': () => link().then((file) => file.linkOff),
  'link verify': () => linkVerify().then((file) => file.linkVerify),
  'link peer list': () => linkPeers().then((file) => file.peerList),
  'link peer add': () => linkPeers().then((file) => file.peerAdd),
  'link peer allow': () => linkPeers().then((file) => file.peerAllow),
  'link peer rotate': () => linkPeers().then((file) => file.peerRotate),
  'link peer remove': () => linkPeers().then((file) => file.peerRemove),
  'link peer pending': () => linkPeers().then((file) => file.peerPending),
  'chat list': () => chatRead().then((file) => file.chatList),
  'chat read': () => chatRead().then((file) => file.chatRead),
  'chat send': () => chatWrite().then((file) => file.chatSend),
  'chat reply': () => chatWrite().then((file) => file.chatReply),
  'chat edit': () => chatWrite().then((file) => file.chatEdit),
  'chat react': () => chatWrite().then((file) => file.chatReact),
  'chat redact': () => chatWrite().then((file) => file.chatRedact),
  'chat forward': () => chatWrite().then((file) => file.chatForward),
  'chat thread': () => chatRead().then((file) => file.chatThread),
  'chat mentions': () => chatRead().then((file) => file.chatMentions),
  'chat receipts': () => chatRead().then((file) => file.chatReceipts),
  'chat mark': () => chatMarks().then((file) => file.chatMark),
  'chat typing': () => chatMarks().then((file) => file.chatTyping),
  'chat create': () => chatRooms().then((file) => file.chatCreate),
  'chat join': () => chatRooms().then((file) => file.chatJoin),
  'chat leave': () => chatRooms().then((file) => file.chatLeave),
  'chat invite': () => chatRooms().then((file) => file.chatInvite),
  'chat kick': () => chatRooms().then((file) => file.chatKick),
  'chat bind': () => chatRooms().then((file) => file.chatBind),
  'chat tag': () => chatMarks().then((file) => file.chatTag),
  'chat data': () => chatMarks().then((file) => file.chatData),
  'chat search': () => chatRead().then((file) => file.chatSearch),
  'chat retry': () => chatRead().then((file) => file.chatRetry),
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
  'wake status': () => import('./wake/status.ts').then((file) => file.wakeStatus),
  'wake plan': () => import('./wake/try.ts').then((file) => file.wakePlan),
  'wake detect': () => import('./wake/detect.ts').then((file) => file.wakeDetect),
  'wake mode': () => wakes().then((file) => file.wakeMode),
  'wake allow': () => wakes().then((file) => file.wakeAllow),
  'wake block': () => wakes().then((file) => file.wakeBlock),
  'wake enable': () => wakes().then((file) => file.wakeEnable),
  'wake disable': () => wakes().then((file) => file.wakeDisable),
  'wake import': () => wakeKeys().then((file) => file.wakeImport),
  'wake forget': () => wakeKeys().then((file) => file.wakeForget),
  'wake test': () => import('./wake/try.ts').then((file) => file.wakeTest),
  hook: () => import('./hook.ts').then((file) => file.hook),
  mcp: () => import('./mcp.ts').then((file) => file.mcp),
  channel: () => import('./channel.ts').then((file) => file.channel),
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
