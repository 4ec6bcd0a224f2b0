// mail4agent ui: a one-time link to the web page.
import { UI } from '../wire/ui.ts'
import { defineCommand } from './command.ts'
import { openInBrowser } from './open-page.ts'
import { seconds } from './usage.ts'

/** As the mailbox has it. */
const UI_SECONDS = UI.link.request.properties.login_secs.anyOf[0].maximum

export const ui = defineCommand({
  name: 'ui',
  summary: 'a one-time link to the web page',
  usage: '[options]',
  help: `Prints a link to the web page of the mailbox: who is live, every account's mail, threads, sessions, rooms, search, and
writing as you. The link works once and for a minute, in a browser of this machine. The login it makes acts as your account,
ends after 12 hours, with --logout, with a new token, and when the mailbox is restarted. It is for persons and operators: an
agent cannot ask for one or use one.

  mail4agent ui                        print the link
  mail4agent ui --open                 and open it in the browser
  mail4agent ui --for 1h               a login that ends after an hour
  mail4agent ui --logout               end every login to the page`,
  options: {
    open: { help: 'open the link in the browser, too' },
    for: { value: 'TIME', help: 'how long the login lasts at most: 30m, 8h (default 12h)' },
    logout: { help: 'end every login of the account to the page' },
  },
  words: [0, 0],
  async run(context) {
    const { options } = context
    const login_secs = options.for === undefined ? null : seconds('--for', options.for, UI_SECONDS)
    const client = await context.operator()
    if (options.logout) {
      const answer = await client.ui('logout', {})
      return context.show(answer, () => `ended ${answer.ended} login${answer.ended === 1 ? '' : 's'}\n`)
    }
    const link = await client.ui('link', { login_secs })
    context.show(link, () => `${link.url}\n`)
    context.progress('open it within a minute, in a browser of this machine; it works once')
    if (options.open) await openInBrowser(context, link.url)
    return 0
  },
})
