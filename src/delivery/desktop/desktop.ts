// What shows a notification on this system.
import { darwinDesktop } from './darwin.ts'
import { linuxDesktop } from './linux.ts'
import type { Shown } from './news.ts'
import { windowsDesktop } from './windows.ts'

export interface Desktop {
  /** How, for people: `D-Bus org.freedesktop.Notifications`. */
  readonly through: string
  /**
   * Shows it; one with the same `key` is replaced where the desktop can do that.
   * @throws an Error whose message says why it was not shown
   */
  show(shown: Shown, key: string): Promise<void>
}

export type Env = Readonly<Record<string, string | undefined>>

export function openDesktop(platform: NodeJS.Platform, env: Env): Desktop {
  if (platform === 'linux') return linuxDesktop(env)
  if (platform === 'darwin') return darwinDesktop(env)
  if (platform === 'win32') return windowsDesktop(env)
  return {
    through: 'nothing',
    async show() {
      throw new Error(`there are no notifications on ${platform}`)
    },
  }
}
