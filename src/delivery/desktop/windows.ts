// Windows: a toast through Windows PowerShell 5.1, which has the WinRT types. The script is always the same; text comes in the environment.
import { join } from 'node:path/win32'
import { type Command, runChild } from './child.ts'
import type { Desktop, Env } from './desktop.ts'
import type { Shown } from './news.ts'

/** Whose name a toast bears: an id that is registered, and PowerShell's own always is. */
const APP = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe'

/** Text becomes text nodes, so that nothing in it is markup. One line without double quotes: it is one word of a command line. */
const SCRIPT = [
  "$ErrorActionPreference = 'Stop'",
  '[void][Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]',
  '$kind = [Windows.UI.Notifications.ToastTemplateType]::ToastText02',
  '$xml = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent($kind)',
  "$text = $xml.GetElementsByTagName('text')",
  '[void]$text.Item(0).AppendChild($xml.CreateTextNode($env:M4A_TITLE))',
  '[void]$text.Item(1).AppendChild($xml.CreateTextNode($env:M4A_BODY))',
  '$toast = New-Object Windows.UI.Notifications.ToastNotification $xml',
  '$toast.Tag = $env:M4A_KEY',
  `[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier('${APP}').Show($toast)`,
].join('; ')

/** A tag of a toast has at most 16 characters on old builds: ToastNotification.Tag. */
const TAG = 16

export function windowsCommand({ title, body }: Shown, key: string, env: Env): Command {
  const root = env.SystemRoot ?? env.SYSTEMROOT ?? 'C:\\Windows'
  const shell = join(root, 'System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe')
  const options = ['-NoLogo', '-NoProfile', '-NonInteractive', '-WindowStyle', 'Hidden', '-Command', SCRIPT]
  const own = { M4A_TITLE: title, M4A_BODY: body, M4A_KEY: key.slice(0, TAG) }
  const { TEMP, USERPROFILE, LOCALAPPDATA, APPDATA } = env
  return { words: [shell, ...options], env: { SystemRoot: root, TEMP, USERPROFILE, LOCALAPPDATA, APPDATA, ...own } }
}

export const windowsDesktop = (env: Env): Desktop => ({
  through: 'a toast by Windows PowerShell',
  show: (shown, key) => runChild(windowsCommand(shown, key, env)),
})
