// mail4agent import aipass: the mailboxes of a tree of AIPass branches, carried into this mailbox.
import { resolve } from 'node:path'
import { checkRequest } from '../door/validate.ts'
import { ImportLetter } from '../wire/transfer.ts'
import { defineCommand } from './command.ts'
import { mustBeFolder } from './given-path.ts'
import { collect } from './import/aipass/collect.ts'
import { joinMail } from './import/aipass/join.ts'
import { Carrier } from './import/carry.ts'
import { NAME_OPTIONS, Names } from './import/names.ts'
import { Report, showReport } from './import/report.ts'
import { usage } from './usage.ts'

export const importAipass = defineCommand({
  name: 'import aipass',
  summary: 'carry the mail of an AIPass tree into this mailbox',
  usage: '[options] <tree>',
  help: `Finds every .ai_mail.local folder below the tree and carries in what lies there: inbox.json, sent, deleted and contacts.json, in
each shape that they have had. The tree is only read; links are not followed. A message that lies with its sender and with its
recipients becomes one letter with a copy for each. new, opened and closed stay what they are; what was deleted is closed, and so
is sent mail that no recipient has any more. Times without a zone are of this machine's clock (TZ). A branch becomes the account
of its address. Imported letters say so, ring nobody, and are added once, however often this is run. What cannot be read is told
with its path and the reason, and the rest goes on. Exit code 1 when something could not be read.

  mail4agent import aipass ~/src/project --dry-run
  mail4agent import aipass ~/src/project --make-accounts
  mail4agent import aipass ~/src/project --map devpulse=claude --map drone=codex`,
  options: NAME_OPTIONS,
  words: [1, 1],
  async run(context) {
    const tree = resolve(context.io.cwd, context.word(0, 'the tree'))
    mustBeFolder(tree, 'name the root of the project')
    const { options } = context
    const names = new Names(options.map)
    const report = new Report('aipass', options['dry-run'])
    context.progress(`reading ${tree}`)
    const { branches, mail, contacts } = collect(tree, report)
    if (branches.length === 0) throw usage(`there is no .ai_mail.local below ${tree}`, 'name the root of the project')
    const { letters, repeated, matched, alone } = joinMail(mail)
    for (const { letter } of letters) names.wantLetter(letter)
    for (const { name, project } of contacts) names.wantContact(name, project)
    const client = await context.operator()
    await names.settle(client, options['make-accounts'], report)
    const carrier = new Carrier(context, client, 'aipass', names, report)
    for (const one of letters) {
      const fault = checkRequest(ImportLetter, one.letter)
      if (fault) report.problem(one.at, fault)
      else await carrier.add(one)
    }
    await carrier.flush()
    const of = (place: string) => mail.filter((one) => one.place === place).length
    return showReport(context, report, {
      mailboxes: branches.length,
      in_inboxes: of('inbox'),
      deleted: of('deleted'),
      sent: of('sent'),
      sent_and_still_with_a_recipient: matched,
      sent_alone: alone,
      repeated,
      contacts: contacts.length,
    })
  },
})
