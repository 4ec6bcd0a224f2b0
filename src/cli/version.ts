// mail4agent version.
import { VERSION } from '../door/version.ts'
import { defineCommand } from './command.ts'

export const version = defineCommand({
  name: 'version',
  summary: 'the version of this program',
  usage: '',
  help: 'Prints the version of this program. That of the running mailbox: mail4agent status.',
  options: {},
  words: [0, 0],
  run: async (context) =>
    context.show({ name: 'mail4agent', version: VERSION, bun: Bun.version }, () => `mail4agent ${VERSION}\n`),
})
