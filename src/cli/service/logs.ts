// mail4agent service logs: what the mailbox has logged as a service, from the journal or from its file.
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { logPath } from '../../install/background.ts'
import { complaint, run } from '../../install/service/run.ts'
import { Refusal } from '../../wire/refusal.ts'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { isBackground } from '../stop.ts'
import { wholeNumber } from '../usage.ts'
import { SYSTEM, serviceOf, usableService } from './common.ts'

const POLL_MS = 250
/** A user has a journal of his own only where it is kept on the disk: systemd-journald.service(8), journalctl(1). */
const JOURNAL = 'where you have no journal of your own, root and the group systemd-journal may read it'

export const serviceLogs = defineCommand({
  name: 'service logs',
  summary: 'what the service has logged',
  usage: '[options] [<user>]',
  help: `Shows the last lines that the mailbox logged as a service, in logfmt: time, level, msg and facts. No line holds a secret,
a subject or a body.

  mail4agent service logs
  mail4agent service logs -n 500 | grep level=error
  mail4agent service logs --follow`,
  options: {
    ...SYSTEM,
    lines: { short: 'n', value: 'N', help: 'how many lines (50)' },
    follow: { short: 'f', help: 'go on with what comes, until Ctrl-C' },
  },
  words: [0, 1],
  async run(context) {
    const { system, lines = '50', follow } = context.options
    const count = wholeNumber('--lines', lines, 1, 100_000)
    if (!system && isBackground(context)) return await fromFile(context, logPath(context.place.dataDir), count, follow)
    const { step, target } = serviceOf(context, system)
    const log = step.log(target, count, follow)
    if ('command' in log) await usableService(context, system)
    if ('file' in log) return await fromFile(context, log.file, count, follow)
    const { env } = context.io
    if (follow) return await Bun.spawn([...log.command], { env, stdio: ['ignore', 'inherit', 'inherit'] }).exited
    const ran = await run(log.command, env)
    if (ran.code !== 0) throw new Refusal('service_failed', `${log.command[0]}: ${complaint(ran)}`, {}, JOURNAL)
    return show(context, ran.out)
  },
})

const show = (context: Context, text: string): number =>
  context.show({ lines: text.split('\n').filter((line) => line !== '') }, () => text)

async function fromFile(context: Context, path: string, count: number, follow: boolean): Promise<number> {
  const text = tail(path, count)
  if (!follow) return show(context, text)
  context.print(text)
  const stop = context.io.stopSignal()
  for (let at = sizeOf(path); !stop.aborted; await Bun.sleep(POLL_MS)) {
    const size = sizeOf(path)
    if (size > at) context.print(slice(path, at, size))
    at = size // shorter: it was begun anew
  }
  return 0
}

/** @throws Refusal `service_failed` where nothing was logged yet */
function tail(path: string, count: number): string {
  try {
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    return lines
      .slice(-count)
      .map((line) => `${line}\n`)
      .join('')
  } catch {
    throw new Refusal('service_failed', `there is no log at ${path}`, { path }, 'start it: mail4agent service start')
  }
}

function slice(path: string, from: number, to: number): string {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(to - from)
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, from))
  } finally {
    closeSync(file)
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
