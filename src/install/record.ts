// What `up` wrote, so that `down` can take back exactly that: installed.json in the data folder, and copies of what was there before.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { privateFolder, writePrivate } from '../door/folders.ts'
import { Refusal } from '../wire/refusal.ts'
import { CLIENT_NAMES } from './client.ts'
import { digestOf, look } from './files.ts'

const Nullable = <T extends Parameters<typeof Type.Array>[0]>(schema: T) => Type.Union([schema, Type.Null()])

const FileRecord = Type.Object({
  client: Type.Union(CLIENT_NAMES.map((name) => Type.Literal(name))),
  /** Which of the client's files: its place in the client's list. */
  part: Type.Integer(),
  path: Type.String(),
  /** The copy of what was there before, by its name in the folder of copies; null: there was no file. */
  backup: Nullable(Type.String()),
  /** SHA-256 of what we wrote, hex. */
  written: Type.String(),
  /** Folders that we made for it, outermost first. */
  folders: Type.Array(Type.String()),
})
export type FileRecord = Static<typeof FileRecord>

const Installed = Type.Object({
  version: Type.Literal(1),
  files: Type.Array(FileRecord),
  /** A mailbox that we started ourselves in the background, and where it is to listen after an upgrade. */
  background: Nullable(
    Type.Object({
      pid: Type.Integer(),
      port: Type.Optional(Type.Integer()),
      socket: Type.Optional(Nullable(Type.String())),
    }),
  ),
  service: Type.Boolean(),
  /** The port and the socket that were asked for when the service was installed; without it, those of the system. */
  where: Type.Optional(Nullable(Type.Object({ port: Nullable(Type.Integer()), socket: Nullable(Type.String()) }))),
  /** The account that was made for the person who runs this. It stays theirs after all else was taken back. */
  person: Type.Optional(Type.String()),
})
export type Installed = Static<typeof Installed>

/** In place of a pid while the process is started: were we ended meanwhile, the mailbox that runs then is ours. */
export const STARTING = 0

/** Did we start the mailbox that runs as process `pid`? */
export const isOurs = (background: Installed['background'], pid: number): boolean =>
  background !== null && (background.pid === pid || background.pid === STARTING)

/** What is recorded in one data folder. Every change is on the disk before what it speaks of happens. */
export class Installation {
  readonly #dataDir: string
  #installed: Installed

  /** @throws Refusal `damaged_store` for a record that cannot be understood */
  constructor(dataDir: string) {
    this.#dataDir = dataDir
    this.#installed = read(join(dataDir, 'installed.json'))
  }

  /** What is on the disk now: another command may have changed it until we held the lock. @throws as the constructor */
  reload(): void {
    this.#installed = read(join(this.#dataDir, 'installed.json'))
  }

  get files(): readonly FileRecord[] {
    return this.#installed.files
  }

  get background(): Installed['background'] {
    return this.#installed.background
  }

  get service(): boolean {
    return this.#installed.service
  }

  get where(): { port: number | null; socket: string | null } {
    return (this.service ? this.#installed.where : null) ?? { port: null, socket: null }
  }

  /** The account of the person; null before one was made. */
  get person(): string | null {
    return this.#installed.person ?? null
  }

  fileAt(path: string): FileRecord | undefined {
    return this.files.find((file) => file.path === path)
  }

  /** Keeps a copy of `bytes`; its name. */
  keep(path: string, bytes: Buffer | string): string {
    const name = `${digestOf(path).slice(0, 16)}-${digestOf(Buffer.from(bytes)).slice(0, 16)}`
    privateFolder(this.#dataDir)
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    writePrivate(join(this.#folder, name), bytes)
    return name
  }

  /** The copy of that name; null: it is gone. */
  kept(name: string): Buffer | null {
    return look(join(this.#folder, name)).bytes
  }

  put(file: FileRecord): void {
    const others = this.files.filter(({ path }) => path !== file.path)
    this.#write({ ...this.#installed, files: [...others, file] })
    this.#tidy()
  }

  drop(file: FileRecord): void {
    this.#write({ ...this.#installed, files: this.files.filter(({ path }) => path !== file.path) })
    this.#tidy()
  }

  set(change: Partial<Pick<Installed, 'background' | 'service' | 'where' | 'person'>>): void {
    this.#write({ ...this.#installed, ...change })
  }

  get #folder(): string {
    return join(this.#dataDir, 'installed')
  }

  #write(installed: Installed): void {
    const path = join(this.#dataDir, 'installed.json')
    const { files, background, service, person } = installed
    this.#installed = installed
    if (files.length > 0 || background !== null || service || person !== undefined) {
      privateFolder(this.#dataDir)
      writePrivate(path, `${JSON.stringify(installed, null, 2)}\n`)
    } else rmSync(path, { force: true })
  }

  /** Copies that no file needs any more go. */
  #tidy(): void {
    if (this.files.length === 0) rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Only a record that is not there is an empty one: one that cannot be read would be forgotten at the next writing. */
function read(path: string): Installed {
  let text: string
  try {
    const { bytes } = look(path)
    if (bytes === null) return { version: 1, files: [], background: null, service: false }
    text = bytes.toString()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new Refusal('damaged_store', `${path} cannot be read (${code})`, { path }, 'make it readable to you')
  }
  try {
    const found: unknown = JSON.parse(text)
    if (Value.Check(Installed, found)) return found
  } catch {
    // said below
  }
  const hint = 'move it away; client configurations that were written before are then left as they are'
  throw new Refusal('damaged_store', `${path} cannot be understood`, { path }, hint)
}
