// Applied and taken back on real files: byte for byte, through links, cut off in between, and beside a client that writes too.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { applyFile } from '../../../src/install/apply.ts'
import type { ClientName } from '../../../src/install/client.ts'
import { AGENT_CLIENTS } from '../../../src/install/clients/all.ts'
import { ChangedMeanwhile, look, replace } from '../../../src/install/files.ts'
import type { Machine, Us } from '../../../src/install/machine.ts'
import { planClients } from '../../../src/install/plan.ts'
import { Installation } from '../../../src/install/record.ts'
import { undoFile, wouldUndo } from '../../../src/install/undo.ts'
import { Refusal } from '../../../src/wire/refusal.ts'

let home: string
let machine: Machine
const US: Us = { program: ['/opt/mail4agent'], place: [] }

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'm4a-install-'))
  machine = { env: {}, home, platform: 'linux', which: () => null, exists: existsSync }
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const record = () => new Installation(join(home, 'data'))
const at = (path: string) => join(home, path)
const text = (path: string) => readFileSync(at(path), 'utf8')

function write(path: string, content: string, mode = 0o644): void {
  mkdirSync(join(at(path), '..'), { recursive: true })
  writeFileSync(at(path), content)
  chmodSync(at(path), mode)
}

function apply(name: ClientName, us = US): void {
  for (const [part, file] of AGENT_CLIENTS[name].files(machine, us).entries()) applyFile(record(), name, part, file)
}

const undo = () => {
  const kept = record()
  return [...kept.files].reverse().map((file) => undoFile(kept, file, machine, US))
}

test('what was there comes back byte for byte, with its mode; what was not there goes, with its folders', () => {
  const before = '\uFEFF// mine\r\n{ "a": 1, }\r\n'
  write('.gemini/settings.json', before, 0o640)
  apply('gemini')
  apply('copilot')
  expect(statSync(at('.gemini/settings.json')).mode & 0o777).toBe(0o640)
  expect(statSync(at('.copilot/settings.json')).mode & 0o777).toBe(0o600)
  for (const name of readdirSync(at('data'))) expect(statSync(at(`data/${name}`)).mode & 0o077).toBe(0)
  expect(undo()).toEqual(['removed', 'removed', 'restored'])
  expect(text('.gemini/settings.json')).toBe(before)
  expect(statSync(at('.gemini/settings.json')).mode & 0o777).toBe(0o640)
  expect(existsSync(at('.copilot'))).toBe(false)
  expect(readdirSync(at('data'))).toEqual([])
})

test('a link stays a link, also one that points to nothing yet', () => {
  write('dotfiles/gemini.json', '{}\n')
  mkdirSync(at('.gemini'))
  symlinkSync('../dotfiles/gemini.json', at('.gemini/settings.json'))
  mkdirSync(at('.qwen'))
  symlinkSync('../dotfiles/qwen.json', at('.qwen/settings.json'))
  apply('gemini')
  apply('qwen')
  for (const path of ['.gemini/settings.json', '.qwen/settings.json'])
    expect(lstatSync(at(path)).isSymbolicLink()).toBe(true)
  expect(text('dotfiles/gemini.json')).toContain('mail4agent')
  expect(text('dotfiles/qwen.json')).toContain('mail4agent')
  undo()
  expect(text('dotfiles/gemini.json')).toBe('{}\n')
  expect(existsSync(at('dotfiles/qwen.json'))).toBe(false)
  expect(lstatSync(at('.qwen/settings.json')).isSymbolicLink()).toBe(true)
})

test('from a file that its client rewrote our entries alone go', () => {
  write('.gemini/settings.json', '{"a":1}')
  apply('gemini')
  const rewritten = { ...JSON.parse(text('.gemini/settings.json')), b: 2 }
  writeFileSync(at('.gemini/settings.json'), JSON.stringify(rewritten, null, 2))
  expect(undo()).toEqual(['cleaned'])
  expect(JSON.parse(text('.gemini/settings.json'))).toEqual({ a: 1, b: 2 })
})

test('a second time with another place of ours, it is still the first file that comes back', () => {
  write('.gemini/settings.json', '{"a":1}')
  apply('gemini')
  apply('gemini', { program: ['/new/mail4agent'], place: [] })
  expect(text('.gemini/settings.json')).not.toContain('/opt/')
  undo()
  expect(text('.gemini/settings.json')).toBe('{"a":1}')
})

test('rewritten by its client and set up again, down gives the client’s file without us', () => {
  write('.gemini/settings.json', '{"a":1}')
  apply('gemini')
  const rewritten = text('.gemini/settings.json').replace('"a":1', '"a":2')
  writeFileSync(at('.gemini/settings.json'), rewritten)
  apply('gemini', { program: ['/new/mail4agent'], place: [] })
  undo()
  expect(JSON.parse(text('.gemini/settings.json'))).toEqual({ a: 2 })
})

test('cut off after the record and before the file: up goes on, and down finds the file as it was', () => {
  const before = '{"a":1}'
  write('.gemini/settings.json', before)
  const kept = record()
  const backup = kept.keep(at('.gemini/settings.json'), before)
  kept.put({
    client: 'gemini',
    part: 0,
    path: at('.gemini/settings.json'),
    backup,
    written: 'f'.repeat(64),
    folders: [],
  })
  expect(undo()).toEqual(['as it was'])
  expect(text('.gemini/settings.json')).toBe(before)
  kept.put({
    client: 'gemini',
    part: 0,
    path: at('.gemini/settings.json'),
    backup,
    written: 'f'.repeat(64),
    folders: [],
  })
  record().keep(at('.gemini/settings.json'), before)
  apply('gemini')
  expect(undo()).toEqual(['restored'])
  expect(text('.gemini/settings.json')).toBe(before)
})

test('a file that its user removed meanwhile is not made again', () => {
  write('.gemini/settings.json', '{}')
  apply('gemini')
  rmSync(at('.gemini/settings.json'))
  expect(undo()).toEqual(['as it was'])
  expect(existsSync(at('.gemini/settings.json'))).toBe(false)
})

test('a damaged file is refused by line, its client as a whole, and it stays as it is', () => {
  const broken = '{\n  "hooks": {\n'
  write('.claude/settings.json', broken)
  const [plan] = planClients(machine, US, ['claude'])
  expect(plan?.changes).toEqual([])
  expect(plan?.refusal).toMatchObject({ kind: 'damaged_config', facts: { path: at('.claude/settings.json') } })
  expect(plan?.refusal?.message).toMatch(/settings\.json, line \d: /)
  expect(text('.claude/settings.json')).toBe(broken)
  writeFileSync(at('.claude/settings.json'), Buffer.from([0x7b, 0xff, 0x7d]))
  expect(planClients(machine, US, ['claude'])[0]?.refusal?.message).toContain('not UTF-8')
})

test('damaged after us, it stays recorded and is named', () => {
  write('.gemini/settings.json', '{}')
  apply('gemini')
  writeFileSync(at('.gemini/settings.json'), '{ broken')
  expect(undo).toThrow(Refusal)
  expect(record().files).toHaveLength(1)
  expect(text('.gemini/settings.json')).toBe('{ broken')
})

test('a file that changes between reading and writing is not overwritten', () => {
  write('a.json', '{}')
  const seen = look(at('a.json'))
  write('a.json', '{"their":1}')
  expect(() => replace(seen, '{"our":1}')).toThrow(ChangedMeanwhile)
  expect(text('a.json')).toBe('{"their":1}')
  expect(readdirSync(home)).toEqual(['a.json'])
})

test('kimi makes its own configuration first: hooks are not written into one that is missing', () => {
  mkdirSync(at('.kimi-code'))
  const [plan] = planClients(machine, US, ['kimi'])
  expect(plan?.changes.map(({ file }) => file.path)).toEqual([at('.kimi-code/mcp.json')])
  expect(plan?.notes.join()).toContain('start kimi once')
  write('.kimi-code/config.toml', 'default_model = "a"\n')
  expect(planClients(machine, US, ['kimi'])[0]?.changes).toHaveLength(2)
})

test('a record that cannot be understood is refused', () => {
  write('data/installed.json', '{"version":9}')
  chmodSync(at('data'), 0o700)
  expect(record).toThrow(Refusal)
})

test('what is no plain file is left alone at once, and the other files are taken back', async () => {
  apply('gemini')
  apply('copilot')
  rmSync(at('.gemini/settings.json'))
  expect(Bun.spawnSync(['mkfifo', at('.gemini/settings.json')]).exitCode).toBe(0)
  mkdirSync(at('.qwen'))
  symlinkSync('/dev/zero', at('.qwen/settings.json'))
  for (const { refusal } of planClients(machine, US, ['gemini', 'qwen'])) {
    expect(refusal).toMatchObject({ kind: 'damaged_config' })
    expect(refusal?.message).toContain('no plain file')
  }
  const kept = record()
  for (const file of kept.files) {
    if (file.client !== 'gemini') expect(undoFile(kept, file, machine, US)).toBe('removed')
    else {
      expect(wouldUndo(file)).toBeNull()
      expect(() => undoFile(kept, file, machine, US)).toThrow('no plain file')
    }
  }
  expect(record().files.map(({ client }) => client)).toEqual(['gemini'])
})

test('a text that is nested too deeply is refused by name', () => {
  write('.gemini/settings.json', `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)
  const [plan] = planClients(machine, US, ['gemini'])
  expect(plan?.refusal).toMatchObject({ kind: 'damaged_config' })
  expect(plan?.refusal?.message).toContain('nested too deeply')
})

test('a copy that somebody removed does not keep our entries in the file', () => {
  write('.gemini/settings.json', '{ "a": 1 }')
  apply('gemini')
  for (const name of readdirSync(at('data/installed'))) rmSync(at(`data/installed/${name}`))
  expect(undo()).toEqual(['cleaned'])
  expect(JSON.parse(text('.gemini/settings.json'))).toEqual({ a: 1 })
})

test('a record that cannot be read is refused, not taken for an empty one', () => {
  mkdirSync(at('data/installed.json'), { recursive: true })
  expect(() => record()).toThrow('cannot be read')
})

test('what another command recorded meanwhile is there after reload, and stays', () => {
  write('.gemini/settings.json', '{ "a": 1 }')
  write('.qwen/settings.json', '{ "b": 1 }')
  apply('gemini')
  const mine = record()
  apply('qwen')
  mine.reload()
  expect(mine.files.map(({ client }) => client)).toEqual(['gemini', 'qwen'])
  const [first] = mine.files
  if (first) undoFile(mine, first, machine, US)
  expect(undo()).toEqual(['restored'])
  expect(text('.qwen/settings.json')).toBe('{ "b": 1 }')
})

test('a program whose path has quotes finds its own hooks again', () => {
  const odd: Us = { program: ["/opt/it's $x/m4a"], place: [] }
  mkdirSync(at('.claude'))
  apply('claude', odd)
  const before = text('.claude/settings.json')
  expect(planClients(machine, odd, ['claude'])[0]?.changes).toEqual([])
  apply('claude', odd)
  expect(text('.claude/settings.json')).toBe(before)
})
