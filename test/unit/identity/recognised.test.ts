// Which processes are agent clients: as the real ones look in /proc, and as imposters and prompts look.
import { expect, test } from 'bun:test'
import type { Process } from '../../../src/attest/attestor.ts'
import { RECOGNISED_AGENTS } from '../../../src/identity/clients.ts'
import { isVsCode } from '../../../src/identity/editors.ts'
import { forwarderName } from '../../../src/identity/forwarders.ts'
import { recognisedAgents, recogniser } from '../../../src/identity/recognised.ts'
import { process, started } from './processes.ts'

const recognise = recogniser(RECOGNISED_AGENTS)
const modules = '/home/u/.npm/node_modules'

test.each<[string, string, 'exe' | 'script' | 'name', Process]>([
  [
    'Claude from npm',
    'claude',
    'exe',
    process({
      exe: `${modules}/@anthropic-ai/claude-code/bin/claude.exe`,
      comm: 'claude',
      argv: [`${modules}/.bin/claude`, '-p', 'hello'],
    }),
  ],
  ['Claude, its platform package', 'claude', 'exe', started(`${modules}/@anthropic-ai/claude-code-linux-x64/claude`)],
  [
    'Claude by its own installer',
    'claude',
    'exe',
    process({ exe: '/home/u/.local/share/claude/versions/2.1.332', comm: 'claude', argv: ['claude'] }),
  ],
  ['Claude, replaced while it runs', 'claude', 'exe', started('/opt/claude (deleted)')],
  [
    'Codex, native',
    'codex',
    'exe',
    started(`${modules}/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex`),
  ],
  ['Codex, its launcher', 'codex', 'script', started('/usr/bin/node', `${modules}/.bin/codex`)],
  ['Codex, the script itself', 'codex', 'script', started('/usr/bin/node', `${modules}/@openai/codex/bin/codex.js`)],
  [
    'Codex on Windows, its launcher',
    'codex',
    'script',
    started(
      String.raw`C:\Program Files\nodejs\node.exe`,
      String.raw`C:\Users\u\node_modules\@openai\codex\bin\codex.js`,
    ),
  ],
  ['Claude on Windows', 'claude', 'exe', started(String.raw`C:\Users\u\.local\bin\claude.exe`, '-p', 'x')],
  ['opencode', 'opencode', 'exe', started(`${modules}/opencode-ai/bin/opencode.exe`, '-s', 'ses_1')],
  ['Gemini', 'gemini', 'script', started('/usr/bin/node', '--no-warnings=DEP0040', '/usr/bin/gemini', '-p', 'x')],
  [
    'Gemini, restarted with more memory',
    'gemini',
    'script',
    started('/usr/bin/node', '--max-old-space-size=8192', `${modules}/@google/gemini-cli/dist/index.js`),
  ],
  ['Qwen under bun', 'qwen', 'script', started('/usr/bin/bun', 'run', '/usr/local/bin/qwen')],
  ['Kimi under python', 'kimi', 'script', started('/usr/bin/python3.12', '/home/u/.local/bin/kimi')],
  [
    'Cursor',
    'cursor-agent',
    'exe',
    process({
      exe: '/home/u/.local/share/cursor-agent/versions/2026.11.02/node',
      argv: ['/home/u/.local/bin/cursor-agent', '--use-system-ca', '/home/u/.local/share/x/index.js'],
      comm: 'node',
    }),
  ],
  [
    'one that renamed itself',
    'gemini',
    'name',
    process({ exe: '/usr/bin/node', comm: 'gemini', argv: ['gemini', '', ''] }),
  ],
  ['a shell script', 'claude', 'name', process({ comm: 'claude', argv: ['/bin/sh', '/home/u/bin/claude'] })],
])('%s is recognised', (_, client, by, seen) => {
  expect(recognise(seen)).toEqual({ client, by })
})

test.each<[string, Process]>([
  ['a shell with the word in its command', started('/usr/bin/bash', '-c', 'claude -p hello; codex resume')],
  ['an editor of a file of that name', started('/usr/bin/vim', 'claude')],
  ['node with a program text', started('/usr/bin/node', '-e', 'console.log(1)', '/usr/bin/gemini')],
  [
    'node with another script and the word after it',
    started('/usr/bin/node', '/srv/app.js', '/usr/bin/gemini', 'claude'),
  ],
  ['node with a preload of that name', started('/usr/bin/node', '-r', '/usr/bin/gemini', '/srv/app.js')],
  ['a package whose name only begins so', started('/usr/bin/node', `${modules}/@openai/codex-helper/index.js`)],
  ['a folder of that name', started('/usr/bin/node', '/home/u/claude/index.js')],
  ['a program in a folder of that name', started('/home/u/claude/server')],
  [
    "Codex's sandbox, which is Codex by another name",
    process({ exe: '/opt/codex', comm: 'codex-linux-san', argv: ['codex-linux-sandbox', '--', 'bash'] }),
  ],
  ['a script that no interpreter runs', process({ exe: null, argv: [], comm: '' })],
  ['nothing but a look-alike', started('/usr/bin/claudex')],
])('%s is not', (_, seen) => {
  expect(recognise(seen)).toBeNull()
})

test('the list may be replaced: names, paths, none', () => {
  expect(recognisedAgents(undefined)).toEqual(RECOGNISED_AGENTS)
  expect(recognisedAgents('')).toEqual([])
  expect(recognisedAgents(' mine, /opt/agents/other ,')).toEqual(['mine', '/opt/agents/other'])
  const own = recogniser(recognisedAgents('mine,/opt/agents/other,/srv/agent.js'))
  expect(own(started('/usr/bin/mine'))).toEqual({ client: 'mine', by: 'exe' })
  expect(own(started('/opt/agents/other'))).toEqual({ client: 'other', by: 'exe' })
  expect(own(started('/usr/bin/other'))).toBeNull()
  expect(own(started('/usr/bin/node', '/srv/agent.js'))).toEqual({ client: 'agent', by: 'script' })
  expect(own(started('/opt/claude'))).toBeNull()
  expect(recogniser([])(started('/opt/claude'))).toBeNull()
})

test('forwarders are told by their executable or script', () => {
  for (const [name, seen] of [
    ['ssh', started('/usr/bin/ssh', '-L', '1:2:3', 'host')],
    ['sshd-session', started('/usr/lib/openssh/sshd-session')],
    ['socat', started('/usr/bin/socat')],
    ['docker-proxy', started('/usr/libexec/docker/docker-proxy')],
    ['mcp-remote', started('/usr/bin/node', `${modules}/.bin/mcp-remote`, 'http://127.0.0.1:1/mcp')],
    ['mcp-remote', started('/usr/bin/node', `${modules}/mcp-remote/dist/proxy.js`)],
  ] as const)
    expect(forwarderName(seen)).toBe(name)
  expect(forwarderName(started('/usr/bin/curl', 'ssh', 'socat'))).toBeNull()
  expect(forwarderName(started('/usr/bin/node', '/srv/app.js', 'mcp-remote'))).toBeNull()
})

test('VS Code is told by its executable or its server, and is no agent', () => {
  const host = ['--type=utility', '--utility-sub-type=node.mojom.NodeService']
  const server = '/home/u/.vscode-server/cli/servers/Stable-1b2c/server'
  for (const seen of [
    started('/usr/share/code/code', ...host),
    started('/snap/code/200/usr/share/code/code', ...host),
    started('/usr/share/code-insiders/code-insiders', ...host),
    started('/usr/share/codium/codium', ...host),
    started(String.raw`C:\Users\u\AppData\Local\Programs\Microsoft VS Code\Code.exe`, ...host),
    started(
      '/Applications/Visual Studio Code.app/Contents/Frameworks/Code Helper (Plugin).app/Contents/MacOS/Code Helper (Plugin)',
    ),
    started(`${server}/node`, '--dns-result-order=ipv4first', `${server}/out/bootstrap-fork`, '--type=extensionHost'),
  ]) {
    expect([seen.exe, isVsCode(seen)]).toEqual([seen.exe, true])
    expect(recognise(seen)).toBeNull()
  }
  for (const seen of [
    started('/usr/bin/codex'),
    started('/usr/bin/vim', 'code'),
    started('/usr/bin/node', '/srv/code'),
    started('/usr/bin/node', '-e', `${server}/out/bootstrap-fork`),
    process({ comm: 'code', argv: ['code'] }),
    process({ exe: null, comm: 'code', argv: ['code'] }),
  ])
    expect(isVsCode(seen)).toBe(false)
})
