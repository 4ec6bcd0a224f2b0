// A machine without a desktop, as the engine sees it.
import type { DesktopNotifications } from '../../src/engine/mail.ts'
import { Refusal } from '../../src/wire/refusal.ts'

export const noDesktop: DesktopNotifications = {
  counts: { shown: 0, failed: 0 },
  state: () => ({ on: true, through: 'nothing', waiting: false, shown: null, failure: null, failedAt: null }),
  async turn() {},
  async test() {
    throw new Refusal('not_shown', 'there is no desktop')
  },
}
