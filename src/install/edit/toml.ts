// Edits of TOML by its lines: our own tables are put and taken out, every other line stays. The result is parsed and compared.
import { isDeepStrictEqual } from 'node:util'
import { parse, TomlError, type TomlTable } from 'smol-toml'
import { Damaged, eolOf, withoutBom } from './damaged.ts'

export type Entry = Readonly<Record<string, string | readonly string[]>>

/** A text in lines, and its values. */
type Toml = { mark: string; eol: string; lines: string[]; values: TomlTable }

/** @throws Damaged with the line of the first fault */
export function readToml(text: string): Toml {
  const [mark, rest] = withoutBom(text)
  return { mark, eol: eolOf(rest), lines: rest.split('\n'), values: parsed(rest) }
}

function parsed(text: string): TomlTable {
  try {
    return parse(text, { integersAsBigInt: 'asNeeded' })
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    throw new Damaged(error.line, error.message.split('\n')[0]?.toLowerCase() ?? 'it is no TOML')
  }
}

/** One table of a file: its header line and what follows up to its last line with content. */
export type Block = { header: string; from: number; to: number; lines: string[] }

/** The tables in order. Lines inside texts and lists over several lines are no headers. */
export function blocksOf(lines: readonly string[]): Block[] {
  const blocks: Block[] = []
  let open: Block | null = null
  let begun = ''
  for (const [at, raw] of lines.entries()) {
    const line = raw.replace(/\r$/, '')
    const header = begun === '' ? /^\s*(\[\[?[^\]]+\]\]?)\s*(#.*)?$/.exec(line)?.[1] : undefined
    if (header !== undefined) {
      open = { header: header.replaceAll(/\s*([.[\]])\s*/g, '$1'), from: at, to: at + 1, lines: [] }
      blocks.push(open)
      continue
    }
    const inside = begun !== ''
    begun = begun === '' && /^\s*(#|$)/.test(line) ? '' : unfinished(`${begun}${line}\n`)
    // comments and empty lines in front of the next header belong to that
    if (open && (inside || !/^\s*(#|$)/.test(line))) open.to = at + 1
  }
  for (const block of blocks) block.lines = lines.slice(block.from + 1, block.to)
  return blocks
}

/** `text` when it is the beginning of a value over several lines, else nothing. */
function unfinished(text: string): string {
  try {
    parse(text, { integersAsBigInt: 'asNeeded' })
    return ''
  } catch {
    return text // no line is wrong by itself: the whole file was parsed before
  }
}

/** Lines of a table. Our values are texts and lists of texts. */
export const tableLines = (header: string, entry: Entry): string[] => [
  header,
  ...Object.entries(entry).map(([name, value]) => `${name} = ${valueText(value)}`),
]

const valueText = (value: string | readonly string[]): string =>
  typeof value === 'string' ? quote(value) : `[${value.map(quote).join(', ')}]`

/** JSON's strings are basic strings of TOML, but for the DEL character. */
const quote = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007F')

/** Puts a table at the end, after an empty line. */
export function appendTable({ mark, eol, lines }: Toml, table: readonly string[]): string {
  const body = lines.join('\n')
  const end = body === '' || body.endsWith('\n') ? '' : eol
  const gap = body.trim() === '' || /\n\r?\n$/.test(body) ? '' : eol
  return `${mark}${body}${end}${gap}${table.join(eol)}${eol}`
}

/** The text without the blocks for which `ours` holds, and without the empty line in front of each. */
export function withoutBlocks(toml: Toml, ours: (block: Block) => boolean): string {
  const lines = [...toml.lines]
  for (const { from, to } of blocksOf(toml.lines).filter(ours).reverse()) {
    const start = from > 0 && lines[from - 1]?.trim() === '' ? from - 1 : from
    lines.splice(start, to - start)
  }
  const text = lines.join('\n')
  return toml.mark + (text.trim() === '' ? '' : text)
}

/**
 * Nothing but ours may have changed: `rest` takes our values out of both.
 * @throws Damaged when the file is written in a form that these edits do not fit
 */
export function checkOnlyOurs(before: string, after: string, rest: (values: TomlTable) => unknown): void {
  const [was, is] = [before, after].map((text) => rest(structuredClone(parsed(withoutBom(text)[1]))))
  if (!isDeepStrictEqual(was, is)) throw new Damaged(1, 'its tables are written in a form that cannot be edited safely')
}
