// What help tells beside the commands: topics that concern many of them.

import { JSON_TOPIC } from './help-json.ts'

export const TOPICS: Readonly<Record<string, { title: string; text: string }>> = {
  accounts: {
    title: 'as which account a command acts',
    text: `Each account has a token. A command takes the first of these that names one:

  --as NAME          the token of NAME in tokens/ of the data folder
  M4A_TOKEN_FILE     a file that holds a token, readable by its owner only (chmod 600)
  M4A_TOKEN          the token itself
  M4A_ACCOUNT=NAME   as --as
  the agent          that runs the command, where an account has its name (claude, codex, …)
  .mail4agent        a file with the name of an account in its first line, in the current folder or one above it
  default-account    in the data folder, likewise: up writes your own there; an agent is never taken for you
  the only one       where the data folder holds a single token

.mail4agent maps a folder and all below it to an account. It holds a name and no secret, so it can be committed:

  echo backend > ~/src/backend/.mail4agent
  cd ~/src/backend/src && mail4agent whoami        acts as backend

Commands of an operator (mail4agent admin …) take the key of the first start where nothing but the agent, a folder or the only
token would name an account.

Where a command got its token: mail4agent whoami --explain. Which tokens are here: mail4agent completion accounts.
Make one: mail4agent admin account add NAME`,
  },
  json: JSON_TOPIC,
}
