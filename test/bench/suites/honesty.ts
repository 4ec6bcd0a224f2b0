// Are the figures honest? A sync for each commit, the journal mode, and every acknowledged message there after kill -9.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { HTTP, holds } from '../http.ts'
import { RECIPIENTS, SENDERS, sends } from '../letters.ts'
import { type Mailbox, openMailbox } from '../peers/mailbox.ts'
import { end, installed, spawn } from '../proc.ts'
import { integrity, journalMode, messageIds } from '../storage.ts'
import { asker, connect } from '../wire.ts'

const CONNECTIONS = 64
const LOAD_MS = 1_500

export async function checkHonesty(bench: Bench): Promise<void> {
  const mailbox = await openMailbox(join(bench.folder, 'honesty'))
  const senders = Array.from({ length: SENDERS }, (_, i) => `sender-${i}`)
  await mailbox.accounts([...senders, ...Array.from({ length: RECIPIENTS }, (_, i) => `box-${i}`)])
  const next = sends((sender) => mailbox.token(`sender-${sender}`))
  const mode = journalMode(mailbox.dataDir)
  bench.honest('the journal is a write-ahead log', mode === 'wal', mode)
  await countSyncs(bench, mailbox, next)
  await killUnderLoad(bench, mailbox, next)
  await mailbox.stop()
}

/** One connection that waits for each answer cannot share a commit: each send is a sync, where strace can see it. */
async function countSyncs(bench: Bench, mailbox: Mailbox, next: () => Buffer): Promise<void> {
  const what = 'a sync before each answer (strace)'
  if (!installed('strace')) return bench.skip(what, 'strace is not installed')
  const log = join(bench.folder, 'strace.log')
  const strace = spawn(['strace', '-f', '-qq', '-e', 'trace=fsync,fdatasync', '-o', log, '-p', String(mailbox.pid)])
  await Bun.sleep(1_000)
  const line = await asker(mailbox.port, HTTP)
  const count = 50
  for (let i = 0; i < count; i++) await line.ask(next())
  line.close()
  await end(strace, 'SIGTERM')
  const synced = readFileSync(log, 'utf8').match(/(fsync|fdatasync)(\(| resumed)[^\n]* = 0/g)?.length ?? 0
  bench.honest(what, synced >= count, `${synced} syncs for ${count} sends`)
}

async function killUnderLoad(bench: Bench, mailbox: Mailbox, next: () => Buffer): Promise<void> {
  const good = holds('"message_id":"m4a_')
  const acknowledged: string[] = []
  for (let i = 0; i < CONNECTIONS; i++) {
    const connection = await connect(
      mailbox.port,
      HTTP,
      (reply) => {
        const id = good(reply) ? /"message_id":"(m4a_[0-9a-f]{24})"/.exec(reply.toString())?.[1] : undefined
        if (id !== undefined) acknowledged.push(id)
        connection.send(next())
      },
      () => {},
    )
    connection.send(next())
  }
  await Bun.sleep(LOAD_MS)
  await mailbox.stop('SIGKILL')
  await mailbox.start()
  const stored = messageIds(mailbox.dataDir)
  const lost = acknowledged.filter((id) => !stored.has(id)).length
  const sound = integrity(mailbox.dataDir)
  bench.honest(
    'kill -9 under 64 senders: every acknowledged message is there',
    acknowledged.length > 0 && lost === 0 && sound === 'ok',
    `${acknowledged.length} acknowledged, ${lost} lost, integrity ${sound}`,
  )
}
