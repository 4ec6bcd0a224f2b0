// Linux: org.freedesktop.Notifications on the session bus, as the Desktop Notifications Specification 1.2 has it.
import { type Bus, openSessionBus } from './dbus/session-bus.ts'
import type { Desktop, Env } from './desktop.ts'
import type { Shown } from './news.ts'

const SERVER = {
  destination: 'org.freedesktop.Notifications',
  path: '/org/freedesktop/Notifications',
  interface: 'org.freedesktop.Notifications',
}

export function linuxDesktop(env: Env): Desktop {
  /** key → the id of the notification that stands for it, which the next one replaces */
  const ids = new Map<string, number>()
  return {
    through: `D-Bus ${SERVER.interface}`,
    async show(shown, key) {
      const bus = await openSessionBus(env)
      try {
        ids.set(key, await notify(bus, shown, ids.get(key) ?? 0))
      } finally {
        bus.close()
      }
    },
  }
}

async function notify(bus: Bus, { title, body }: Shown, replaces: number): Promise<number> {
  const can = await bus.call({ ...SERVER, member: 'GetCapabilities' })
  const isMarkup = can.strings().includes('body-markup')
  const reply = await bus.call({ ...SERVER, member: 'Notify' }, 'susssasa{sv}i', (out) => {
    out.string('mail4agent')
    out.u32(replaces)
    out.string('mail-unread') // an icon of the Icon Naming Specification
    out.string(title)
    out.string(isMarkup ? escaped(body) : body)
    out.array(4, () => {}) // no actions
    out.array(8, () => {
      out.entry('category', 's', () => out.string('email.arrived'))
      out.entry('urgency', 'y', () => out.byte(1))
    })
    out.u32(0xffff_ffff) // -1: the server decides how long it is shown
  })
  return reply.u32()
}

/** Bodies are a small subset of XML where the server says `body-markup`; summaries never are. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
