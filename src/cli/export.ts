// mail4agent export: letters as lines of JSON, to be kept, read by programs, or carried into another mailbox.
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { resolve } from 'node:path'
import type { MailClient } from '../client/client.ts'
import { diskRefusal } from '../store/disk.ts'
import { LIMITS } from '../wire/limits.ts'
import { defineCommand } from './command.ts'
import type { Context } from './context.ts'
import { mustTakeFile } from './given-path.ts'
import { FORMAT, FORMAT_VERSION, type Line } from './import/exported.ts'
import { allAccounts, allRooms } from './import/names.ts'
import { idOf } from './latest.ts'
import { usage } from './usage.ts'

export const exportCommand = defineCommand({
  name: 'export',
  summary: 'write letters as lines of JSON',
  usage: '[options]',
  help: `Writes your whole mailbox, what came and what your account sent, as lines of JSON: a header, a line for each letter with the
state and times of its copies, and an end with their number. Oldest first; nothing is cut, opened or closed. No token is in it.
mail4agent import reads it.

  mail4agent export > mail.jsonl
  mail4agent export --thread m4a_00000000002a9f3c51d07be4
  mail4agent export --all --out mail.jsonl             of every account, for operators
  mail4agent export | jq -r 'select(.type == "message") | .subject'`,
  options: {
    thread: { value: 'ID', help: 'only the thread of that message, as far as you may read it; latest: of your newest' },
    account: { value: 'NAME', help: 'the mail of that account (needs an operator)' },
    all: { help: 'the mail of all accounts, with the accounts and rooms themselves (needs an operator)' },
    out: { short: 'o', value: 'FILE', help: 'into a new file that only you may read, instead of the standard output' },
  },
  words: [0, 0],
  async run(context) {
    const { thread, account, all, out } = context.options
    if ([thread, account, all || undefined].filter((one) => one !== undefined).length > 1)
      throw usage('only one of --thread, --account and --all can be asked for')
    const path = out === undefined ? null : resolve(context.io.cwd, out)
    if (path !== null && existsSync(path)) throw usage(`${JSON.stringify(path)} exists`, 'choose another file')
    if (path !== null) mustTakeFile(path, 'choose another file with --out')
    const client = await (all || account !== undefined ? context.operator() : context.mailbox())
    const request = {
      message_id: thread === undefined ? null : await idOf(client, thread, context.io.now()),
      of: account?.replace(/^@/, '') ?? null,
      all: all || null,
    }
    const scope = request.message_id ?? (all ? 'all' : (account ?? 'own'))
    if (path === null) {
      await write(context, client, request, scope, (text) => context.print(text))
      return 0
    }
    const letters = await intoFile(path, (print) => write(context, client, request, scope, print))
    return context.show({ path, letters }, () => `${path} (${letters} letters)\n`)
  },
})

type Asked = { message_id: string | null; of: string | null; all: boolean | null }
const TIMEOUT = { timeoutMs: 300_000 }
const SHOW_MS = 1_000

/** Resolves to the number of letters. */
async function write(
  context: Context,
  client: MailClient,
  request: Asked,
  scope: string,
  print: (text: string) => void,
): Promise<number> {
  const line = (value: Line) => print(`${JSON.stringify(value)}\n`)
  const exported_at = new Date(context.io.now()).toISOString()
  let page = await client.call('export', { ...request, max_bytes: LIMITS.budgetMax }, TIMEOUT)
  line({ type: 'header', format: FORMAT, version: FORMAT_VERSION, exported_at, scope })
  if (request.all) {
    for (const { id, label, kind } of await allAccounts(client)) line({ type: 'account', id, label, kind })
    for (const { id, label, members } of await allRooms(client)) line({ type: 'room', id, label, members })
  }
  let letters = 0
  let shown = context.io.now()
  for (;;) {
    for (const letter of page.letters) line({ type: 'message', ...letter })
    letters += page.letters.length
    if (context.io.now() - shown >= SHOW_MS) {
      shown = context.io.now()
      context.progress(`${letters} letters`)
    }
    if (!page.has_more || page.cursor === null) break
    page = await client.call('export', { ...request, cursor: page.cursor, max_bytes: LIMITS.budgetMax }, TIMEOUT)
  }
  line({ type: 'end', letters })
  return letters
}

/** Under the name there is a whole export or none. */
async function intoFile(path: string, work: (print: (text: string) => void) => Promise<number>): Promise<number> {
  const draft = `${path}.${process.pid}.new`
  try {
    const file = openSync(draft, 'wx', 0o600)
    try {
      const letters = await work((text) => writeAll(file, text))
      fsyncSync(file)
      renameSync(draft, path)
      return letters
    } finally {
      closeSync(file)
      rmSync(draft, { force: true })
    }
  } catch (error) {
    throw diskRefusal(error, path, 'choose another file with --out') ?? error
  }
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
}
