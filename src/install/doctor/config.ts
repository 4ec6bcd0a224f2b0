// Our own configuration: can it be understood, and what does it allow.
import { Refusal } from '../../wire/refusal.ts'
import type { Checkup } from './checkup.ts'
import { type Found, fail, fine } from './finding.ts'

export function config({ settings, record }: Checkup): Found[] {
  const found: Found[] = []
  try {
    const { path, on } = settings()
    found.push(fine(on.length === 0 ? 'nothing out of the ordinary is set' : `${on.join(' and ')} is on`, { path, on }))
  } catch (error) {
    found.push(refused(error))
  }
  try {
    record()
  } catch (error) {
    found.push(refused(error))
  }
  return found.some(({ level }) => level === 'fail') ? found.filter(({ level }) => level === 'fail') : found
}

function refused(error: unknown): Found {
  if (!(error instanceof Refusal)) throw error
  return fail(error.message, error.hint, { kind: error.kind, ...error.facts })
}
