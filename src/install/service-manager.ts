// The service managers that can run the mailbox, by the name that `serve --service` takes.

export const MANAGERS = ['systemd', 'launchd', 'windows'] as const
export type Manager = (typeof MANAGERS)[number]

/** EX_CONFIG of sysexits.h, a name that systemd.exec(5) shows too: a unit says that it is no reason to start again. */
export const EX_CONFIG = 78
