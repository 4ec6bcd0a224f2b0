// A sealed JSON file: AES-256-GCM over labels and secrets; its head is in the clear and authenticated.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { Refusal } from '../../wire/refusal.ts'

export type Secrets = Record<string, string>
type Parts = { nonce: string; sealed: string }
const TAG = 16
const CIPHER = 'aes-256-gcm'

/** `head` is bound to what is sealed: nobody can change it without the key. */
export function seal<H extends object>(head: H, secrets: Secrets, key: Uint8Array): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG })
  cipher.setAAD(Buffer.from(JSON.stringify(head)))
  const text = Buffer.concat([cipher.update(JSON.stringify(secrets)), cipher.final(), cipher.getAuthTag()])
  const parts: Parts = { nonce: nonce.toString('base64'), sealed: text.toString('base64') }
  return `${JSON.stringify({ ...head, ...parts })}\n`
}

/** Splits a file into what is in the clear and what is sealed. @throws Refusal `vault_damaged` */
export function splitSealed<H extends object>(text: string, isHead: (value: object) => value is H): H & Parts {
  const value = parsed(text)
  if (value === null || !('nonce' in value) || !('sealed' in value) || !isHead(value))
    throw new Refusal('vault_damaged', 'the file is no vault, or its beginning was changed')
  return { ...value, nonce: String(value.nonce), sealed: String(value.sealed) }
}

/** @throws Refusal `vault_damaged`: another key, or somebody changed the file */
export function unseal<H extends object>(file: H & Parts, key: Uint8Array): Secrets {
  const { nonce, sealed, ...head } = file
  try {
    const bytes = strict(sealed)
    const decipher = createDecipheriv(CIPHER, key, strict(nonce), { authTagLength: TAG })
    decipher.setAAD(Buffer.from(JSON.stringify(head)))
    decipher.setAuthTag(bytes.subarray(-TAG))
    return JSON.parse(Buffer.concat([decipher.update(bytes.subarray(0, -TAG)), decipher.final()]).toString())
  } catch {
    throw new Refusal('vault_damaged', 'the vault does not open: this is not its key, or the file was changed')
  }
}

/** Base64 in its one form: other texts for the same bytes are a change too. */
function strict(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw new Error('no base64')
  return bytes
}

function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}
