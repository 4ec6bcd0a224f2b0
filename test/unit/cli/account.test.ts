// Which account a command acts for: the order of what names one, and a refusal with the candidates where nothing does.
import { describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AgentAbove, type Asked, findOperatorToken, findToken, folderAccount } from '../../../src/cli/account.ts'
import { prepareToken } from '../../../src/cli/token-files.ts'
import { Refusal } from '../../../src/wire/refusal.ts'
import { tempFolder } from '../../support/temp.ts'
import { io, type Shell } from './shell.ts'

const nobody = async () => null
const chooseToken = async (asked: Asked, above: AgentAbove) => (await findToken(asked, above)).token
const chooseOperatorToken = async (asked: Asked, above: AgentAbove) => (await findOperatorToken(asked, above)).token

/** A data folder with a token for each of `names`; the secret is `t-<name>`. */
function world(...names: string[]) {
  const folder = tempFolder()
  const dataDir = join(folder.path, 'data')
  const cwd = join(folder.path, 'a', 'b')
  mkdirSync(dataDir)
  mkdirSync(cwd, { recursive: true })
  for (const name of names) prepareToken(dataDir, name, `t-${name}`).keep()
  const file = (name: string, text: string, mode = 0o600) => {
    writeFileSync(join(folder.path, name), text)
    chmodSync(join(folder.path, name), mode) // whatever the umask
    return join(folder.path, name)
  }
  const asked = (shell: Shell = {}, as?: string) => ({ as, dataDir, io: io({ cwd, ...shell }, [], []) })
  return { ...folder, dataDir, cwd, file, asked }
}

async function refusal(attempt: Promise<string>): Promise<Refusal> {
  const found = await attempt.then(
    (token) => new Error(`chose ${token}`),
    (error) => error,
  )
  if (found instanceof Refusal) return found
  throw found
}

describe('the order', () => {
  test('each source wins over all that come after it', async () => {
    using at = world('claude', 'codex', 'flag', 'named', 'mapped')
    at.file('a/.mail4agent', 'mapped\n')
    const env: Record<string, string> = { M4A_TOKEN_FILE: at.file('token', 't-file'), M4A_ACCOUNT: 'named' }
    const agent = async () => 'claude'
    const choose = (shell: Shell, as?: string) => chooseToken(at.asked(shell, as), agent)
    expect(await choose({ env, token: 't-env' }, 'flag')).toBe('t-flag')
    expect(await choose({ env, token: 't-env' })).toBe('t-file')
    delete env.M4A_TOKEN_FILE
    expect(await choose({ env, token: 't-env' })).toBe('t-env')
    expect(await choose({ env })).toBe('t-named')
    delete env.M4A_ACCOUNT
    expect(await choose({ env })).toBe('t-claude')
    expect(await chooseToken(at.asked({ env }), nobody)).toBe('t-mapped')
  })

  test('where it was found is said with it', async () => {
    using at = world('claude', 'codex')
    const stored = { token: 't-claude', account: 'claude', path: join(at.dataDir, 'tokens', 'claude') }
    expect(await findToken(at.asked({}, 'claude'), nobody)).toEqual({ ...stored, source: '--as' })
    expect(await findToken(at.asked(), async () => 'claude')).toEqual({ ...stored, source: 'the agent above' })
    const file = at.file('token', 't-file')
    expect(await findToken(at.asked({ env: { M4A_TOKEN_FILE: file } }), nobody)).toMatchObject({ path: file })
    expect(await findToken(at.asked({ token: 'x' }), nobody)).toMatchObject({ source: 'M4A_TOKEN', path: null })
  })

  test('the only token there is, whoever asks', async () => {
    using at = world('backend')
    expect(await chooseToken(at.asked(), async () => 'claude')).toBe('t-backend')
  })

  test('an agent without a token of its name changes nothing', async () => {
    using at = world('backend', 'codex')
    expect((await refusal(chooseToken(at.asked(), async () => 'claude'))).kind).toBe('which_account')
  })

  test('nobody looks for an agent where something names the account', async () => {
    using at = world('backend')
    const never = () => Promise.reject(new Error('looked'))
    expect(await chooseToken(at.asked({}, '@Backend'), never)).toBe('t-backend')
    expect(await chooseToken(at.asked({ token: 'x' }), never)).toBe('x')
  })
})

describe('refusals', () => {
  test('several: the candidates', async () => {
    using at = world('codex', 'claude')
    expect((await refusal(chooseToken(at.asked(), nobody))).toJSON()).toMatchObject({
      kind: 'which_account',
      candidates: ['claude', 'codex'],
    })
  })

  test('none: how to make one', async () => {
    using at = world()
    const found = await refusal(chooseToken(at.asked(), nobody))
    expect(found).toMatchObject({ kind: 'which_account', exit: 2 })
    expect(found.hint).toContain('mail4agent admin account add')
  })

  test('a name without a token: where it was named', async () => {
    using at = world('claude')
    const file = at.file('.mail4agent', 'ghost')
    expect((await refusal(chooseToken(at.asked({}, 'ghost'), nobody))).message).toStartWith('--as says ghost')
    expect((await refusal(chooseToken(at.asked({ env: { M4A_ACCOUNT: 'ghost' } }), nobody))).message).toStartWith(
      'M4A_ACCOUNT says ghost',
    )
    expect((await refusal(chooseToken(at.asked(), nobody))).message).toStartWith(`${file} says ghost`)
  })

  test('what is no name, no token, or not private', async () => {
    using at = world('claude')
    expect((await refusal(chooseToken(at.asked({}, '../data'), nobody))).kind).toBe('usage')
    expect((await refusal(chooseToken(at.asked({ token: 'two words' }), nobody))).kind).toBe('usage')
    expect((await refusal(chooseToken(at.asked({ env: { M4A_TOKEN_FILE: '/nowhere/x' } }), nobody))).kind).toBe(
      'which_account',
    )
    const open = at.file('open', 't', 0o644)
    expect((await refusal(chooseToken(at.asked({ env: { M4A_TOKEN_FILE: open } }), nobody))).kind).toBe(
      'bad_permissions',
    )
  })
})

test('an operator’s command takes the key of the first start, unless something names the account', async () => {
  using at = world('claude')
  writeFileSync(join(at.dataDir, 'operator.key'), 'key', { mode: 0o600 })
  const agent = async () => 'claude'
  expect(await chooseOperatorToken(at.asked(), agent)).toBe('key')
  expect(await chooseOperatorToken(at.asked({ token: 'x' }), agent)).toBe('x')
  expect(await chooseOperatorToken(at.asked({ env: { M4A_ACCOUNT: 'claude' } }), agent)).toBe('t-claude')
  expect(await chooseOperatorToken(at.asked({}, 'claude'), agent)).toBe('t-claude')
})

test('the nearest mapping upwards counts; a folder of that name is none', () => {
  using at = world()
  expect(folderAccount(at.cwd)).toBe(null)
  at.file('.mail4agent', ' outer \nmore')
  expect(folderAccount(at.cwd)?.name).toBe('outer')
  mkdirSync(join(at.cwd, '.mail4agent'))
  expect(folderAccount(at.cwd)?.name).toBe('outer')
  at.file('a/.mail4agent', 'inner')
  expect(folderAccount(at.cwd)?.name).toBe('inner')
})
