// Letters on their way into the mailbox: some at a time, each batch one transaction there.
import type { MailClient } from '../../client/client.ts'
import type { Imported } from '../../wire/letter.ts'
import { LIMITS } from '../../wire/limits.ts'
import { bytes } from '../../wire/text.ts'
import type { ImportLetter } from '../../wire/transfer.ts'
import type { Context } from '../context.ts'
import type { Names } from './names.ts'
import type { Report } from './report.ts'

/** A letter and where it was found, for the report. */
export type Carried = { at: string; letter: ImportLetter }

/** Bytes of the letters of one batch; the request around them is small. */
const BATCH_BYTES = LIMITS.request - 20_000
const SHOW_MS = 1_000

export class Carrier {
  readonly #context: Context
  readonly #client: MailClient
  readonly #source: Imported['source']
  readonly #names: Names
  readonly #report: Report
  #batch: Carried[] = []
  #size = 0
  #shown: number

  constructor(context: Context, client: MailClient, source: Imported['source'], names: Names, report: Report) {
    this.#context = context
    this.#client = client
    this.#source = source
    this.#names = names
    this.#report = report
    this.#shown = context.io.now()
  }

  async add({ at, letter }: Carried): Promise<void> {
    const named = this.#names.named(letter)
    const size = bytes(JSON.stringify(named)) + 1
    if (size > BATCH_BYTES) {
      this.#report.problem(at, `is ${size} bytes long, ${BATCH_BYTES} can be carried`)
      return
    }
    if (this.#batch.length >= LIMITS.importBatch || this.#size + size > BATCH_BYTES) await this.flush()
    this.#batch.push({ at, letter: named })
    this.#size += size
  }

  async flush(): Promise<void> {
    const batch = this.#batch
    this.#batch = []
    this.#size = 0
    if (batch.length === 0) return
    const report = this.#report
    const letters = batch.map(({ letter }) => letter)
    const { results } = await this.#client.admin('import', { source: this.#source, letters, dry_run: report.dryRun })
    for (const [index, { outcome, refusal }] of results.entries()) {
      const one = batch[index]
      if (!one) continue
      if (outcome === 'known') report.known++
      else if (outcome === 'added' || this.#willBe(refusal?.kind)) report.counted(one.letter)
      else report.problem(one.at, refusal?.message ?? 'was refused')
    }
    this.#progress()
  }

  /** In a dry run the accounts and rooms that are to be made, or mapped, are not there yet. */
  #willBe(kind: string | undefined): boolean {
    const { dryRun, accountsMade, roomsMade, unknownNames } = this.#report
    const missing = accountsMade.length + roomsMade.length + unknownNames.length > 0
    return dryRun && missing && (kind === 'unknown_participant' || kind === 'unknown_room')
  }

  #progress(): void {
    const now = this.#context.io.now()
    if (now - this.#shown < SHOW_MS) return
    this.#shown = now
    const { added, known, problems } = this.#report
    this.#context.progress(`${added} letters, ${known} there already, ${problems.length} not read`)
  }
}
