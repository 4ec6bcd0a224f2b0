// Agent clients as /proc showed them while they ran, with the arguments that their launchers gave them: what is read of each.
import { expect, test } from 'bun:test'
import type { Process } from '../../../src/attest/attestor.ts'
import { readArguments } from '../../../src/identity/arguments.ts'
import { CLIENTS, RECOGNISED_AGENTS } from '../../../src/identity/clients.ts'
import { recogniser } from '../../../src/identity/recognised.ts'
import { process } from './processes.ts'

const ID = '59eb89b1-eda1-4807-a7cc-59bc292e1072'
const modules = '/home/u/.npm/node_modules'
const node = '/usr/bin/node'
const recognise = recogniser(RECOGNISED_AGENTS)

/** Client, version, how it is told, model and session that its arguments show, and the process that starts MCP servers. */
const CAPTURED: [string, string, 'exe' | 'script' | 'name', string | null, string | null, Partial<Process>][] = [
  [
    'gemini',
    '0.61.0',
    'script',
    'gemini-2.5-flash',
    ID,
    {
      exe: node,
      comm: 'node',
      argv: [
        node,
        '--max-old-space-size=12052',
        `${modules}/.bin/gemini`,
        ...['-m', 'gemini-2.5-flash', '--approval-mode', 'yolo', '--session-id', ID, '-p', 'follow the script'],
      ],
    },
  ],
  [
    'qwen',
    '0.24.4',
    'script',
    null,
    null,
    {
      exe: node,
      comm: 'node',
      argv: [
        node,
        '--expose-gc',
        `${modules}/@qwen-code/qwen-code/cli.js`,
        ...['--approval-mode', 'yolo', '-p', 'follow the script'],
      ],
    },
  ],
  [
    'kimi',
    '2.1.0',
    'name',
    null,
    null,
    { exe: `${modules}/node/bin/node`, comm: 'kimi-code', argv: ['kimi-code', ...Array<string>(100).fill('')] },
  ],
  [
    'kimi, before it has set its title',
    '2.1.0',
    'script',
    'scripted',
    null,
    { exe: node, comm: 'node', argv: ['node', `${modules}/.bin/kimi`, '-m', 'scripted', '-p', 'follow the script'] },
  ],
  [
    'grok',
    '1.0.41',
    'exe',
    'scripted',
    ID,
    {
      exe: '/home/u/.grok/bin/grok-1.0.41',
      comm: 'grok',
      argv: ['/home/u/.grok/bin/grok', '--resume', ID, '-m', 'scripted', '--always-approve', '-p', 'follow the script'],
    },
  ],
  [
    'grok, its launcher',
    '1.0.41',
    'script',
    'scripted',
    null,
    { exe: node, comm: 'node', argv: ['node', `${modules}/.bin/grok`, '-m', 'scripted', '-p', 'follow the script'] },
  ],
  [
    'copilot',
    '1.0.102',
    'exe',
    null,
    ID,
    {
      exe: `${modules}/@github/copilot-linux-x64/copilot`,
      comm: 'MainThread',
      argv: [
        `${modules}/@github/copilot-linux-x64/copilot`,
        ...[`--resume=${ID}`, '--allow-all-tools', '-p', 'follow the script'],
      ],
    },
  ],
  [
    'copilot, its launcher',
    '1.0.102',
    'script',
    null,
    null,
    { exe: node, comm: 'node', argv: ['node', `${modules}/.bin/copilot`, '--allow-all-tools', '-p', 'x'] },
  ],
]

test.each(CAPTURED)('%s %s', (name, _, by, model, session, facts) => {
  const seen = process(facts)
  const [client = ''] = name.split(',')
  expect(recognise(seen)).toEqual({ client, by })
  const known = CLIENTS.get(client)
  expect(known && readArguments(known, seen)).toEqual({ model, session })
})
