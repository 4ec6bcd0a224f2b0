// Running a command of a service manager: its words, what it printed, how it ended; never through a shell.
import { Refusal } from '../../wire/refusal.ts'

export type Ran = { code: number; out: string; err: string }

/** Longer than any stop that a service of ours may take. */
const MOST_MS = 60_000

/** A program that cannot be started is one that ended with 127, as for a shell. */
export async function run(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  timeout = MOST_MS,
): Promise<Ran> {
  try {
    const child = Bun.spawn([...words], { env: { ...env }, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', timeout })
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { code, out, err }
  } catch {
    return { code: 127, out: '', err: `${words[0]} is not on this machine` }
  }
}

/** The line of a manager that says what is wrong; its first. */
export const complaint = ({ code, out, err }: Ran): string =>
  `${err}\n${out}`
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '') ?? `it ended with ${code}`

/** As `run`. @throws Refusal `service_failed` when the command fails */
export async function must(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  hint?: string,
): Promise<Ran> {
  const ran = await run(words, env)
  if (ran.code === 0) return ran
  throw new Refusal('service_failed', `${words.join(' ')}: ${complaint(ran)}`, { exit: ran.code }, hint)
}
