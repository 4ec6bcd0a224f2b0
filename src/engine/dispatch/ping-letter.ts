// A ping letter: one that only asks whether anybody is there. The mailbox answers it itself, and nobody is started for it.

/** The line that clients of the earlier daemon send: exact, alone on its line, not inside a code fence. */
const TOKEN = "[AIPASS-TEST — do not update memories, do not execute, reply 'ack' only]"

/** Fences as CommonMark 0.31 §4.5 has them: three or more backticks or tildes, indented by at most three spaces. */
const FENCE = /^ {0,3}(`{3,}|~{3,})/

export function isPingLetter(body: string): boolean {
  if (!body.includes(TOKEN)) return false
  let fence: string | null = null
  for (const line of body.split(/\r\n|[\n\r]/)) {
    const mark = FENCE.exec(line)?.[1]
    if (fence === null && mark !== undefined) fence = mark
    else if (fence !== null && mark?.startsWith(fence) && line.trim() === mark) fence = null
    else if (fence === null && line.trim() === TOKEN) return true
  }
  return false
}
