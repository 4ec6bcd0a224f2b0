// Opening what a device has: its store, which must never run twice, and its keys, which the vault's key seals.
import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { LinkStore } from '../store/link/link-store.ts'
import { Refusal } from '../wire/refusal.ts'
import { Device } from './crypto/device.ts'
import type { Homeserver } from './matrix/homeserver.ts'
import type { Session } from './matrix/login.ts'
import { transportOver } from './matrix/transport.ts'
import type { Vault } from './vault/vault.ts'

/**
 * Opens the store and counts that in the store and then in the vault: a store that was opened less often than the vault knows,
 * or that lies in another file than it did, is a copy, and would use message keys a second time.
 */
export function openStore(folder: string, vault: Vault): LinkStore {
  const path = join(folder, 'link.sqlite')
  const opened = Number(vault.get('opened') ?? 0)
  if (opened > 0 && !existsSync(path)) throw new Refusal('link_restored', 'the store of the device is gone')
  const links = LinkStore.open(path)
  try {
    if (process.platform !== 'win32') chmodSync(path, 0o600)
    const count = Number(links.meta('opened') ?? 0)
    const inode = vault.get('inode')
    if (count < opened) throw new Refusal('link_restored', 'the store of the device is older than the vault')
    if (inode !== null && links.inode !== 0 && inode !== String(links.inode))
      throw new Refusal('link_restored', 'the store of the device was copied')
    links.setMeta('opened', String(count + 1))
    vault.change({ opened: String(count + 1), inode: String(links.inode) })
    return links
  } catch (error) {
    links.close()
    throw error
  }
}

export async function openDevice(
  session: Session,
  key: Uint8Array,
  homeserver: Homeserver,
  withheld: (user: string, code: string) => void,
): Promise<Device> {
  try {
    return await Device.open(session.user, session.device, key, transportOver(homeserver), withheld)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Refusal('vault_damaged', `the keys of the device do not open: ${reason}`)
  }
}
