// Other machines: whether this mailbox is linked to any.
import { type Found, fine } from './finding.ts'

export const link = (): Found => fine('off', { linked: false })
