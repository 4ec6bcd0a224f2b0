// Order statistics of measured values.

/** The value at `part` (0 to 1) of the sorted values; NaN of none. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

export type Spread = { min: number; median: number; max: number }

export const spread = (values: readonly number[]): Spread => ({
  min: quantile(values, 0),
  median: median(values),
  max: quantile(values, 1),
})

/** Ratios of the same round: a slow moment of the machine hits both. */
export function ratios(over: readonly number[], under: readonly number[]): number[] {
  return over.flatMap((value, round) => {
    const other = under[round]
    return other === undefined ? [] : [value / other]
  })
}
