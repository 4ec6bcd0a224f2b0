// argv → command, nothing else.
import { runCommand } from './cli/cli.ts'
import { processIo } from './cli/io.ts'

process.exit(await runCommand(process.argv.slice(2), processIo()))
