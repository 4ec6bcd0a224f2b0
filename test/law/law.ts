// What may be so: the states that explain everything that was seen. One, as long as nothing was cut off or ran side by side.
import { isDeepStrictEqual } from 'node:util'
import { type Answer, type Asked, call, type Event, happen } from './book.ts'
import { nothing, type State } from './state.ts'

/** A call and its answer; null where none came. */
export type Seen = { by: string; asked: Asked; answer: Answer | null }

/** How far sessions have read is written along with other things, so a kill may take back the last of it. */
type Marks = Record<string, [given: number, opened: number]>
type Course = { state: State; marks: Marks[] }

/** No state explains what was seen. */
export class Broken extends Error {}

export class Law {
  #courses: Course[] = [{ state: nothing(), marks: [{}] }]
  /** How many states at once were needed at most. */
  widest = 1

  /** Any of the states that explain what was seen. */
  get state(): State {
    const [first] = this.#courses
    if (!first) throw new Error('nothing explains it')
    return first.state
  }

  happened(event: Event): void {
    for (const { state } of this.#courses) happen(state, event)
    this.#mark()
  }

  change(change: (state: State) => void): void {
    for (const { state } of this.#courses) change(state)
    this.#mark()
  }

  /** One call, done before the next began. @throws Broken */
  saw(by: string, asked: Asked, answer: Answer, inOrder: (names: string[]) => boolean): void {
    this.together([{ by, asked, answer }], inOrder)
  }

  /**
   * Calls that ran side by side: some order of them explains their answers, and the order in which the store has what was sent
   * (linearizability). Of those without an answer each may have happened or not. @throws Broken
   */
  together(seen: readonly Seen[], inOrder: (names: string[]) => boolean): void {
    const found: Course[] = []
    const expected = new Set<string>()
    const alone = seen.length === 1
    for (const { state, marks } of this.#courses)
      for (const next of explanations(
        state,
        seen.map((one) => partsOf(one, alone)),
        expected,
      ))
        if (inOrder(next.letters.map(({ name }) => name))) found.push({ state: next, marks })
    if (found.length === 0) throw new Broken(report(seen, [...expected]))
    this.#keep(found)
    this.#mark()
  }

  /** The mailbox was started again: after a stop with all that it knew, after a kill with what it had written. */
  restarted(killed: boolean): void {
    const found: Course[] = []
    for (const { state, marks } of this.#courses)
      for (const written of killed ? marks : [marksOf(state)]) {
        const next = structuredClone(state)
        happen(next, { event: 'restart' })
        for (const [address, [given, opened]] of Object.entries(written))
          Object.assign(next.sessions[address] ?? {}, { given, opened })
        found.push({ state: next, marks: [marksOf(next)] })
      }
    this.#keep(found)
  }

  #keep(courses: readonly Course[]): void {
    const distinct = new Map(courses.map((course) => [JSON.stringify(course), course]))
    this.#courses = [...distinct.values()].slice(0, MOST)
    this.widest = Math.max(this.widest, this.#courses.length)
  }

  #mark(): void {
    for (const course of this.#courses) {
      const now = marksOf(course.state)
      if (!isDeepStrictEqual(course.marks.at(-1), now)) course.marks.push(now)
    }
  }
}

/** Of what was expected, so much is told. */
const SHOWN = 6
/** More states than this explain too much to be of use; no bounded history comes near. */
const MOST = 2_000

/** Those that are new since are at their beginning. */
const marksOf = (state: State): Marks =>
  Object.fromEntries(Object.values(state.sessions).map(({ address, given, opened }) => [address, [given, opened]]))

/** What a call does at one moment. `says`: is that its answer? */
type Part = { by: string; asked: Asked; says: (answer: Answer) => boolean; silent: boolean }

/**
 * A call alone is one step. Beside others two things are later than what the call does: the letter that `get` shows once it is
 * opened, and the count of what is unread, which is as of the answer.
 */
function partsOf({ by, asked, answer }: Seen, alone: boolean): Part[] {
  const silent = answer === null
  if (alone || silent) return [{ by, asked, silent, says: (own) => silent || isDeepStrictEqual(own, answer) }]
  const says = (own: Answer) => isDeepStrictEqual({ ...own, unread: null }, { ...answer, unread: null })
  if (asked.op !== 'get' || asked.peek) return [{ by, asked, silent, says }]
  const opens = (own: Answer) => own.refused === answer.refused
  if (answer.refused) return [{ by, asked, silent, says }]
  return [
    { by, asked, silent, says: opens },
    { by, asked: { ...asked, peek: true }, silent, says },
  ]
}

/** The states after every order of the calls, the parts of each in theirs, that gives the answers that were seen. */
function* explanations(state: State, left: readonly Part[][], expected: Set<string>): Generator<State> {
  if (left.every(([part]) => part === undefined || part.silent)) yield structuredClone(state)
  for (const [at, [part, ...rest]] of left.entries()) {
    if (!part) continue
    const next = structuredClone(state)
    const own = call(next, part.by, part.asked)
    if (part.says(own)) yield* explanations(next, left.with(at, rest), expected)
    else if (expected.size < SHOWN) expected.add(`${part.by} ${part.asked.op}: ${JSON.stringify(own)}`)
  }
}

const report = (seen: readonly Seen[], expected: readonly string[]): string =>
  [
    'seen:',
    ...seen.map(({ by, asked, answer }) => `  ${by} ${JSON.stringify(asked)}\n    → ${JSON.stringify(answer)}`),
    'but by the book:',
    ...expected.map((one) => `    ${one}`),
  ].join('\n')
