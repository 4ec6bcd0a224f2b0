// What is kept of the desktop notifications of an account.

/** Times are milliseconds since the epoch. */
export type NotifyRow = {
  readonly account: number
  /** Null: nobody has decided; the kind of the account does. */
  readonly enabled: boolean | null
  /** When the next one would be due if all came evenly: how much of the burst is left follows from it. */
  readonly due: number
  readonly shown: number | null
  /** Why the last one was not shown; null: it was. */
  readonly failure: string | null
  readonly failed: number | null
}

export interface NotifyStore {
  /** That of an account of which nothing is kept yet, too. */
  row(account: number): NotifyRow
  /** Resolves after the commit; what `row` answers is new at once. */
  put(row: NotifyRow): Promise<void>
}
