// The units: the mailbox of one user under the user's own manager, and the template for any user under the machine's.
import { EX_CONFIG } from '../service-manager.ts'
import type { ServiceTarget } from '../service-step.ts'
import { serveEnvironment, serveWords } from './words.ts'

/** A word of ExecStart=: quotes and C escapes, `%` begins a specifier, `$` a variable (systemd.syntax(7), systemd.service(5)). */
export const quoteWord = (word: string): string => quote(word).replaceAll('$', '$$$$')

/**
 * A command in words of ExecStart=. systemd refuses a program whose path has quotes or backslashes, and replaces no `$$` in it
 * (systemd.service(5), "Command lines"): such a one is started by a shell, which gets it as a word like any other.
 */
export function commandLine(words: readonly string[]): string[] {
  const isOdd = /["'\\$\p{Cc}]/u.test(words[0] ?? '')
  return (isOdd ? ['/bin/sh', '-c', 'exec "$0" "$@"', ...words] : words).map(quoteWord)
}

/** A value of Environment=, where `$` has no meaning. */
export function quote(word: string): string {
  const escaped = word
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('%', '%%')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
  return word !== '' && /^[A-Za-z0-9_@%+=:,./$-]+$/.test(word) ? escaped : `"${escaped}"`
}

/** `mail4agent.service` of a user: everything lies in the user's folders, and nothing needs more rights than the user has. */
export function userUnit(target: ServiceTarget): string {
  return `${head('mail4agent, a mailbox for agent sessions')}
[Service]
${run(commandLine(serveWords(target, 'systemd')).join(' '))}
${serveEnvironment(target)
  .map(([name, value]) => `Environment=${quote(`${name}=${value}`)}\n`)
  .join('')}
# StateDirectory= is left off: a user's manager puts it into XDG_STATE_HOME or, before systemd 254, XDG_CONFIG_HOME, and the
# data is in XDG_DATA_HOME. RuntimeDirectory= too: it would remove the socket of a mailbox that was started by hand.
# The mailbox makes both folders itself, for its owner alone.
UMask=0077

${EVERYWHERE}
# Left off, because a user's manager can do it only inside a user namespace (PrivateUsers=), and from inside of one the kernel
# shows nothing of the processes outside: ptrace_may_access() wants the same user namespace, and callers could not be proved:
# ProtectSystem= ProtectHome= PrivateTmp= PrivateDevices= ProtectKernelTunables= ProtectKernelModules= ProtectKernelLogs=
# ProtectControlGroups= ProtectHostname= ProtectClock= ProtectProc= ProcSubset= PrivateMounts=
# CapabilityBoundingSet= is left off: changing it takes CAP_SETPCAP; a user's processes have no capabilities anyway.

[Install]
WantedBy=default.target
`
}

/** `mail4agent@USER.service` of the machine: runs from boot on as USER, in folders of the machine. */
export function systemUnit({ us, port }: ServiceTarget): string {
  // several users have one each, so each takes a free port; agents find it through the data folder
  const words = commandLine([...us.program, 'serve', '--service', 'systemd', '--port', String(port ?? 0)])
  const folders = ['--data-dir', '%S/mail4agent/%i', '--socket', '%t/mail4agent/%i/m4a.sock']
  return `${head('mail4agent, the mailbox of %i')}After=network.target

[Service]
User=%i
${run([...words, ...folders].join(' '))}
StateDirectory=mail4agent/%i
StateDirectoryMode=0700
RuntimeDirectory=mail4agent/%i
RuntimeDirectoryMode=0700
UMask=0077

${EVERYWHERE}
CapabilityBoundingSet=
AmbientCapabilities=
# not strict: agents' sessions, whose wake doors are files among others, lie in a home folder that a template cannot name
ProtectSystem=full
PrivateDevices=yes
PrivateMounts=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
# ProtectHome= is left off: clients' session records and wake doors are in the home folder.
# PrivateTmp= is left off: agents keep their sockets in /tmp, and backups are written where the operator says.
# ProtectProc= is left off: between an agent and its terminal there are processes of other users (sshd, login, sudo), which
# the walk from a caller to its session must see. ProcSubset=pid too: the boot id is in /proc/sys/kernel/random.
# PrivateUsers= is left off: in a user namespace of its own the kernel shows nothing of the processes outside of it.
# RemoveIPC= is left off: it removes all IPC objects of the user, those of the user's other programs among them.

[Install]
WantedBy=multi-user.target
`
}

const head = (description: string): string => `# Written by mail4agent; \`mail4agent service uninstall\` removes it.
[Unit]
Description=${description}
# Five starts in two minutes and it stays down; \`mail4agent service status\` says why.
StartLimitIntervalSec=120
StartLimitBurst=5
`

const run = (command: string): string => `Type=notify
NotifyAccess=main
ExecStart=${command}
Restart=on-failure
RestartSec=2
# The store of a newer version, wrong modes, a wrong setting: the same at every start, until somebody mends it.
RestartPreventExitStatus=${EX_CONFIG}
TimeoutStartSec=60
TimeoutStopSec=15
# The thread that serves callers says that it lives.
WatchdogSec=120
KillSignal=SIGTERM
# The mailbox alone: an agent that it has started and that could not be given a unit of its own works on, and is found again.
KillMode=process
LimitNOFILE=65536`

const EVERYWHERE = `# An agent that is started as a transient service (systemd-run --user) inherits none of this; as a scope it would.
NoNewPrivileges=yes
LockPersonality=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
KeyringMode=private
# netlink: sock_diag(7) names the socket of a caller
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
# @resources is allowed: JavaScript engines set the priority of their threads, and the limit of descriptors is raised
SystemCallErrorNumber=EPERM
# MemoryDenyWriteExecute= is left off: JavaScriptCore compiles at run time.
# PrivateNetwork= and IPAddressDeny= are left off: agents call on loopback, and linked machines are reached over the network.`
