// The session bus of the person who is logged in: where it is, the handshake, calls and their answers. No library, no child.
import { createConnection, type Socket } from 'node:net'
import { isAbsolute, join } from 'node:path'
import type { Env } from '../desktop.ts'
import { type In, Out } from './marshal.ts'
import { callBytes, firstMessage, type Member, type Received, TYPE } from './message.ts'

const PATIENCE_MS = 5_000

/** The first Unix socket of an address: D-Bus Specification, "Server Addresses". Null: it has none that we can use. */
export function socketOf(address: string): string | null {
  for (const one of address.split(';')) {
    const [transport, keys = ''] = one.split(/:(.*)/s)
    if (transport !== 'unix') continue
    for (const pair of keys.split(',')) {
      const [key, value = ''] = pair.split(/=(.*)/s)
      if (key === 'path') return unescaped(value)
      if (key === 'abstract') return `\0${unescaped(value)}`
    }
  }
  return null
}

const unescaped = (value: string): string =>
  value.replaceAll(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

/** @throws Error where there is no bus */
export function busSocket({ DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: runtime }: Env): string {
  const socket = address ? socketOf(address) : runtime && isAbsolute(runtime) ? join(runtime, 'bus') : null
  if (socket !== null) return socket
  throw new Error(
    address ? 'the address of the session bus is of no kind that is known' : 'there is no session bus here',
  )
}

/** Connected and known to the bus. @throws Error with the reason */
export async function openSessionBus(env: Env): Promise<Bus> {
  const bus = new Bus(createConnection({ path: busSocket(env) }))
  try {
    await bus.greet()
    return bus
  } catch (error) {
    bus.close()
    throw error
  }
}

export class Bus {
  readonly #socket: Socket
  #bytes: Buffer = Buffer.alloc(0)
  #serial = 0
  #failed: Error | null = null
  #wake: () => void = () => {}
  readonly #timer: NodeJS.Timeout

  constructor(socket: Socket) {
    this.#socket = socket
    const fail = (error: Error) => {
      this.#failed ??= error
      this.#wake()
    }
    socket.on('data', (bytes: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, bytes])
      this.#wake()
    })
    socket.on('error', (error) => fail(new Error(`the session bus cannot be reached: ${error.message}`)))
    socket.on('close', () => fail(new Error('the session bus has closed the connection')))
    this.#timer = setTimeout(() => fail(new Error('nobody answers on the session bus')), PATIENCE_MS)
  }

  /** EXTERNAL: the kernel tells the bus who we are; then the first call that has to be made. */
  async greet(): Promise<void> {
    const uid = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex')
    this.#socket.write(`\0AUTH EXTERNAL ${uid}\r\n`)
    const line = await this.#take((bytes) => {
      const end = bytes.indexOf('\r\n')
      return end < 0 ? null : { value: bytes.toString('latin1', 0, end), length: end + 2 }
    })
    if (!line.startsWith('OK ')) throw new Error('the session bus belongs to another user')
    this.#socket.write('BEGIN\r\n')
    const own = {
      destination: 'org.freedesktop.DBus',
      path: '/org/freedesktop/DBus',
      interface: 'org.freedesktop.DBus',
    }
    await this.call({ ...own, member: 'Hello' })
  }

  /** Resolves to the body of the answer. @throws Error with what an error answer says */
  async call(to: Member, signature = '', write: (out: Out) => void = () => {}): Promise<In> {
    const body = new Out()
    write(body)
    const serial = ++this.#serial
    this.#socket.write(callBytes(serial, to, signature, body.bytes()))
    for (;;) {
      const message = await this.#take((bytes) => {
        const found = firstMessage(bytes)
        return found && { value: found.message, length: found.length }
      })
      if (message.replyTo !== serial) continue // a signal, such as the one that tells our own name
      if (message.type === TYPE.reply) return message.body
      throw new Error(reasonOf(message))
    }
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#socket.destroy()
  }

  async #take<T>(parse: (bytes: Buffer) => { value: T; length: number } | null): Promise<T> {
    for (;;) {
      const found = parse(this.#bytes)
      if (found) {
        this.#bytes = this.#bytes.subarray(found.length)
        return found.value
      }
      if (this.#failed) throw this.#failed
      await new Promise<void>((wake) => {
        this.#wake = wake
      })
    }
  }
}

function reasonOf({ error, signature, body }: Received): string {
  if (error === 'org.freedesktop.DBus.Error.ServiceUnknown') return 'no desktop on the session bus shows notifications'
  return signature.startsWith('s') ? `${error}: ${body.string()}` : String(error)
}
