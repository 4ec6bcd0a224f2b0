// mail4agent version.
import { VERSION } from '../door/version.ts'
import { KNOWN_SCHEMA } from '../store/schema.ts'
import { defineCommand } from './command.ts'

export const version = defineCommand({
  name: 'version',
  summary: 'the version of this program',
  usage: '',
  help: `Prints the version of this program; with --json also the newest schema of a store that it knows. The version of the
running mailbox: mail4agent status.`,
  options: {},
  words: [0, 0],
  run: async (context) =>
    context.show(
      { name: 'mail4agent', version: VERSION, schema: KNOWN_SCHEMA, bun: Bun.version },
      () => `mail4agent ${VERSION}\n`,
    ),
})
