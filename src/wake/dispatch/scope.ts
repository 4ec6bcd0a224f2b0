// A transient systemd scope for each run, where the mailbox is a systemd service itself: systemd.scope(5), systemd-run(1).

type Env = Readonly<Record<string, string | undefined>>

/** systemd sets INVOCATION_ID for what it starts: systemd.exec(5). */
export const belowSystemd = (env: Env): boolean => env.INVOCATION_ID !== undefined && Bun.which('systemd-run') !== null

/** What stands in front of a command so that it runs in a scope of its own; systemd-run becomes that command in place. */
export const scopeWords = (run: string, env: Env): string[] => [
  'systemd-run',
  // without a manager of this user it is a service of the system
  ...(env.XDG_RUNTIME_DIR ? ['--user'] : []),
  '--scope',
  '--quiet',
  '--collect',
  `--unit=m4a-run-${run}`,
  '--',
]
