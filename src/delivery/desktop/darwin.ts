// macOS: osascript, which every Mac has. The script is always the same; the text comes to it as arguments: osascript(1).
import { type Command, runChild } from './child.ts'
import type { Desktop, Env } from './desktop.ts'
import type { Shown } from './news.ts'

const SCRIPT = ['on run argv', 'display notification (item 2 of argv) with title (item 1 of argv)', 'end run']

export function darwinCommand({ title, body }: Shown, env: Env): Command {
  const lines = SCRIPT.flatMap((line) => ['-e', line])
  return { words: ['/usr/bin/osascript', ...lines, title, body], env: { PATH: '/usr/bin:/bin', HOME: env.HOME } }
}

export const darwinDesktop = (env: Env): Desktop => ({
  through: 'osascript',
  show: (shown) => runChild(darwinCommand(shown, env)),
})
