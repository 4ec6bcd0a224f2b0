// A self-test that failed is repeated until it passes: what was missing, such as a free descriptor, may come back.
import type { SelfTestResult } from './self-test.ts'

/**
 * Runs `test` every `everyMs` milliseconds, one at a time, until it passes; `heard` is told each result.
 * Answers what stops it.
 */
export function retest(
  test: () => Promise<SelfTestResult>,
  everyMs: number,
  heard: (result: SelfTestResult) => void,
): () => void {
  let stopped = false
  let timer: ReturnType<typeof setTimeout>
  const later = () => {
    timer = setTimeout(async () => {
      const result = await test()
      if (stopped) return
      heard(result)
      if (!result.ok) later()
    }, everyMs)
  }
  later()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
