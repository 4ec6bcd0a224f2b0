// The smallest edits that put a member into a JSON object or list, or take one out: neighbours and comments keep their place.
// (The library's own `modify` formats the neighbours anew and moves the comments behind them.)
import { createScanner, type Node } from 'jsonc-parser'
import type { Value } from './json.ts'

export type Edit = { offset: number; length: number; content: string }

/** How the text is written: its line break, and one step of indentation. */
export type Style = { eol: string; unit: string }

/**
 * Puts a member at the end of an object, or with `name` null of a list. Where that is written on one line it stays on one;
 * else the member stands on lines of its own, behind a comment that may follow the one before it.
 */
export function insertion(text: string, parent: Node, name: string | null, value: Value, style: Style): Edit[] {
  const last = parent.children?.at(-1)
  const close = parent.offset + parent.length - 1
  const inner = text.slice(parent.offset, close)
  const key = name === null ? '' : `${JSON.stringify(name)}:`
  const hadComma = last !== undefined && hasComma(text, endOf(last), close)
  const comma = last && !hadComma ? [{ offset: endOf(last), length: 0, content: ',' }] : []
  // where the last one has a comma, ours has one too: so it is told from one that we put, and stays when ours goes
  const trailing = hadComma ? ',' : ''
  if (!inner.includes('\n') && (last !== undefined || !text.trimEnd().includes('\n'))) {
    const gap = / $/.test(inner) ? '' : last && /[,{[] /.test(inner) ? ' ' : ''
    const space = / $/.test(inner) && last ? 1 : 0
    const content = `${space ? ' ' : gap}${key}${key && /": /.test(inner) ? ' ' : ''}${JSON.stringify(value)}${trailing}`
    return [...comma, { offset: close - space, length: 0, content }]
  }
  const indent =
    last && startsLine(text, last.offset) ? indentAt(text, last.offset) : indentAt(text, parent.offset) + style.unit
  const pretty = `${style.eol}${indent}${key}${key ? ' ' : ''}${prettyText(value, indent, style)}${trailing}`
  const end = parent.offset + inner.trimEnd().length
  const closing = text.slice(end, close).includes('\n') ? '' : `${style.eol}${indentAt(text, parent.offset)}`
  return [...comma, { offset: end, length: 0, content: pretty + closing }]
}

/** Takes a member out, with its comma and, where it has lines of its own, with those. Comments before and after it stay. */
export function removal(text: string, value: Node): Edit[] {
  const node = value.parent?.type === 'property' ? value.parent : value
  const parent = node.parent
  const siblings = parent?.children ?? []
  const before = siblings[siblings.indexOf(node) - 1]
  const end = parent ? parent.offset + parent.length - 1 : text.length
  const after = commaIn(text, endOf(node), end)
  const to = after === null ? endOf(node) : after + 1
  const lead = /(\r?\n[\t ]*|[\t ]+)$/.exec(text.slice(0, node.offset))?.[0].length ?? 0
  const edits: Edit[] = [{ offset: node.offset - lead, length: to - node.offset + lead, content: '' }]
  const isLast = node === siblings.at(-1)
  // the comma before the last one has nothing to part any more; one behind it was as good
  const spare = isLast && after === null && before ? commaIn(text, endOf(before), node.offset) : null
  if (spare !== null) edits.push({ offset: spare, length: 1, content: '' })
  return edits
}

/** A value that takes the place of another one. */
export function valueText(text: string, node: Node, value: Value, style: Style): string {
  const old = text.slice(node.offset, endOf(node))
  const isFlat = typeof value !== 'object' || value === null || (!old.includes('\n') && old.length > 2)
  return isFlat ? JSON.stringify(value) : prettyText(value, indentAt(text, node.offset), style)
}

function prettyText(value: Value, indent: string, { eol, unit }: Style): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', `${eol}${indent}`)
}

const endOf = ({ offset, length }: Node): number => offset + length

/** The blanks at the front of the line on which `offset` lies. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return /^[\t ]*/.exec(line)?.[0] ?? ''
}

const startsLine = (text: string, offset: number): boolean =>
  /^[\t ]*$/.test(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset))

/** SyntaxKind.CommaToken and SyntaxKind.EOF of jsonc-parser: constants that exist in its types alone. */
const COMMA = 5
const END = 17

const hasComma = (text: string, from: number, to: number): boolean => commaIn(text, from, to) !== null

/** Where the comma between two offsets is, comments aside. */
function commaIn(text: string, from: number, to: number): number | null {
  const scanner = createScanner(text.slice(from, to))
  for (let kind = scanner.scan(); kind !== END; kind = scanner.scan())
    if (kind === COMMA) return from + scanner.getTokenOffset()
  return null
}
