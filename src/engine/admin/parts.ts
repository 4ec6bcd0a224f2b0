// The parts of the mailbox that may be switched off, as an operator is shown them.
import type { OverviewAnswer, Part } from '../../wire/overview.ts'

const OFF: Part = { state: 'off', note: null }

export const parts = (): OverviewAnswer['parts'] => ({ wake: OFF, dispatch: OFF, link: OFF })
