// mail4agent serve: the mailbox itself, in the foreground, until it is stopped.
import { startDaemon } from '../door/daemon.ts'
import { openLog } from '../door/log.ts'
import { Refusal } from '../wire/refusal.ts'
import { defineCommand } from './command.ts'
import { recognisedFor } from './config.ts'
import { ReaderGone } from './io.ts'
import { DEFAULT_PORT } from './place.ts'

export const serve = defineCommand({
  name: 'serve',
  summary: 'run the mailbox',
  usage: '[options]',
  help: `Runs the mailbox in the foreground until Ctrl-C or SIGTERM. The first start makes the data folder, the database and the
operator's key; nothing needs to be configured. It listens on this machine only.

  mail4agent serve
  mail4agent serve --port 0 --data-dir /tmp/try     any free port, a folder of its own

Environment: M4A_DATA_DIR, M4A_PORT, M4A_SOCKET; M4A_RECOGNISED_AGENTS lists the executables that count as agents (as
recognised_agents in the configuration file).`,
  options: {},
  words: [0, 0],
  async run(context) {
    const { place, io } = context
    const stop = io.stopSignal()
    const daemon = await startDaemon({
      dataDir: place.dataDir,
      port: place.port ?? DEFAULT_PORT,
      socket: place.socket,
      recognised: recognisedFor(io),
      log: openLog({ human: io.errIsTerminal, write: (line) => whoeverListens(() => io.err(line)) }),
    })
    const { port, socketPath, listening, attestation, newOperatorKey } = daemon
    const url = `http://127.0.0.1:${port}`
    const us = `${io.program}${context.options['data-dir'] === undefined ? '' : ` --data-dir ${place.dataDir}`}`
    const about = () =>
      context.show({ url, port, socket: socketPath, listening, data_dir: place.dataDir, attestation }, () =>
        [
          `listens on ${url}${socketPath === null ? '' : ` and ${socketPath}`}`,
          `keeps its data in ${place.dataDir}`,
          ...(newOperatorKey === null ? [] : [`the operator's key is in ${newOperatorKey}`]),
          ...(attestation.ok ? [] : [`refuses mail, because callers cannot be proved: ${attestation.reason}`]),
          `next, in another terminal: ${us} admin account add claude`,
          `then: ${us} send claude "hello" --as operator`,
          'Ctrl-C stops it',
        ]
          .map((line) => `${line}\n`)
          .join(''),
      )
    whoeverListens(about)
    const stopped = new Promise<null>((resolve) => stop.addEventListener('abort', () => resolve(null), { once: true }))
    const reason = stop.aborted ? null : await Promise.race([stopped, daemon.broken])
    await daemon.stop()
    if (reason !== null) throw new Refusal('store_unavailable', `the store can no longer write: ${reason}`)
    return 0
  },
})

/** A mailbox goes on when nobody reads what it prints any more. */
function whoeverListens(write: () => void): void {
  try {
    write()
  } catch (error) {
    if (!(error instanceof ReaderGone)) throw error
  }
}
