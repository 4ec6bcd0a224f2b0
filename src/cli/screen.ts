// The whole terminal for a while: drawn over without flicker, read key by key, and given back as it was.

/** ECMA-48 and xterm's private modes: the other screen, the cursor, drawing all at once (2026). */
const ENTER = '\x1b[?1049h\x1b[?25l'
const LEAVE = '\x1b[?25h\x1b[?1049l'
const BEGIN = '\x1b[?2026h\x1b[H'
const END = '\x1b[J\x1b[?2026l'
/** Clears what an earlier, longer line left. */
const REST = '\x1b[K'

export type Screen = {
  readonly size: { columns: number; rows: number }
  /** As many of the lines as there are rows; each must fit. */
  draw(lines: readonly string[]): void
  /** The terminal as it was before. May be called twice. */
  close(): void
}

/** `pressed` is told each key, `resized` when the terminal has another size. Only where standard output is a terminal. */
export function openScreen(out: (text: string) => void, pressed: (key: string) => void, resized: () => void): Screen {
  const { stdin, stdout } = process
  const hear = (data: Buffer) => {
    for (const key of data.toString('latin1')) pressed(key)
  }
  let open = true
  const close = () => {
    if (!open) return
    open = false
    stdout.off('resize', resized)
    process.off('exit', close)
    if (stdin.isTTY) {
      stdin.off('data', hear)
      stdin.setRawMode(false)
      stdin.pause()
    }
    out(LEAVE)
  }
  out(ENTER)
  process.on('exit', close)
  stdout.on('resize', resized)
  if (stdin.isTTY) {
    stdin.setRawMode(true)
    stdin.on('data', hear)
    stdin.resume()
  }
  return {
    get size() {
      return { columns: stdout.columns || 80, rows: stdout.rows || 24 }
    },
    draw(lines) {
      const shown = lines.slice(0, stdout.rows || 24)
      out(`${BEGIN}${shown.map((line) => `${line}${REST}`).join('\r\n')}${END}`)
    },
    close,
  }
}
