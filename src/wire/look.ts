// Looking: a caller that is proved and asks, but is no sign of life of its account: how it says so, and what it may ask then.
import type { AdminRoute } from './admin.ts'
import type { OperationName } from './operations.ts'

/** The header of a request that only looks; `1`. */
export const LOOK_HEADER = 'x-m4a-look'
/** The same for a command that asks on behalf of the doctor. */
export const LOOK_VARIABLE = 'M4A_LOOK'

/** What heeds it: everything here changes nothing and asks nothing of the caller's own session but its name. */
export const LOOKS: ReadonlySet<OperationName> = new Set(['whoami', 'directory', 'ping'])
export const ADMIN_LOOKS: ReadonlySet<AdminRoute> = new Set(['check', 'wake/status', 'link/status', 'listener/list'])
