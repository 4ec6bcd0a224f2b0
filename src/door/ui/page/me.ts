// Who is logged in: the account of the login and what it may do.
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { WhoamiAnswer } from '../../../wire/answers.ts'

export const Me = createContext<WhoamiAnswer | null>(null)

/** Inside of the page somebody is always logged in. */
export function useMe(): { account: string; operator: boolean; writes: boolean; starts: boolean } {
  const me = useContext(Me)
  const can = me?.capabilities ?? []
  const [operator, writes] = [can.includes('operator'), can.includes('send')]
  return { account: me?.account ?? '', operator, writes, starts: writes && (operator || can.includes('dispatch')) }
}
