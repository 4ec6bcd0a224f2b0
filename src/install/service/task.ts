// A task of Windows as Task Scheduler reads it: [MS-TSCH] 2.5, the schema of `schtasks /Create /XML`.
import type { ServiceTarget } from '../service-step.ts'
import { xmlText } from './plist.ts'
import type { Scope } from './systemd.ts'
import { serveWords } from './words.ts'

/** A word of a command line as CommandLineToArgvW takes it apart: quotes, and backslashes before quotes doubled. */
export const windowsWord = (word: string): string =>
  word !== '' && !/[\s"]/.test(word) ? word : `"${word.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`

/**
 * Starts when the user logs on, or with the machine; runs as that user with no more rights, because callers must be of the
 * same user. It has no time limit, and runs on batteries. The console that a program like ours would show is hidden by
 * conhost.
 */
export function taskText(target: ServiceTarget, scope: Scope): string {
  const words = ['--headless', ...serveWords(target, 'windows')].map(windowsWord).join(' ')
  const user = `<UserId>${xmlText(target.user)}</UserId>`
  const trigger =
    scope === 'system'
      ? '<BootTrigger><Enabled>true</Enabled></BootTrigger>'
      : `<LogonTrigger><Enabled>true</Enabled>${user}</LogonTrigger>`
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.3" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>mail4agent, a mailbox for agent sessions</Description>
  </RegistrationInfo>
  <Triggers>
    ${trigger}
  </Triggers>
  <Principals>
    <Principal id="Author">
      ${user}
      <LogonType>${scope === 'system' ? 'S4U' : 'InteractiveToken'}</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>5</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>5</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>conhost.exe</Command>
      <Arguments>${xmlText(words)}</Arguments>
      <WorkingDirectory>${xmlText(target.dataDir)}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
`
}
