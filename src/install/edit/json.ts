// One JSON text, with comments or without, on its way to another. Reads by path; the edits themselves are in json-edits.ts.
import { isDeepStrictEqual } from 'node:util'
import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { Damaged, eolOf, lineOf, withoutBom } from './damaged.ts'
import { type Edit, insertion, removal, type Style, valueText } from './json-edits.ts'

export type Value = string | number | boolean | null | Value[] | { [member: string]: Value }
export type Path = readonly (string | number)[]

/** Each method edits the text in place; `text` is what has become of it. What it does not touch stays as it stands. */
export class JsonText {
  readonly #mark: string
  readonly #style: Style
  #text: string

  /**
   * An empty text is an empty object.
   * @throws Damaged for a text that is no JSON, or no object
   */
  constructor(text: string) {
    const [mark, rest] = withoutBom(text)
    const eol = eolOf(rest)
    this.#mark = mark
    this.#style = { eol, unit: /^[\t ]+(?=["\]}])/m.exec(rest)?.[0] ?? '  ' }
    this.#text = rest.trim() === '' ? `{${eol}}${eol}` : rest
    if (this.#root().type !== 'object') throw new Damaged(1, 'it holds no JSON object')
  }

  get text(): string {
    return this.#mark + this.#text
  }

  /** What lies at `path`, or undefined. */
  at(path: Path): Value | undefined {
    const node = this.#node(path)
    return node === undefined ? undefined : plainValue(node)
  }

  /** Objects on the way are made. @throws Damaged when something on the way is none */
  set(path: Path, value: Value): void {
    const node = this.#node(path)
    if (node !== undefined) {
      if (isDeepStrictEqual(plainValue(node), value)) return
      const { offset, length } = node
      return this.#edit([{ offset, length, content: valueText(this.#text, node, value, this.#style) }])
    }
    const [parent, missing] = this.#deepest(path)
    if (parent.type !== 'object') throw this.#wrong(parent, path, 'is no object')
    const [name = '', ...inner] = missing.map(String)
    const nested = inner.reduceRight<Value>((held, member) => ({ [member]: held }), value)
    this.#edit(insertion(this.#text, parent, name, nested, this.#style))
  }

  /** Puts `value` at the end of the list at `path`, which is made where it is missing. @throws Damaged */
  append(path: Path, value: Value): void {
    const list = this.#node(path)
    if (list === undefined) return this.set(path, [value])
    if (list.type !== 'array') throw this.#wrong(list, path, 'is no list')
    this.#edit(insertion(this.#text, list, null, value, this.#style))
  }

  /** Removes what lies at `path`, and the lists and objects on the way that are empty then. */
  remove(path: Path): void {
    const node = this.#node(path)
    if (node === undefined) return
    this.#edit(removal(this.#text, node))
    const above = path.slice(0, -1)
    if (above.length > 0 && this.#node(above)?.children?.length === 0) this.remove(above)
  }

  #root(): Node {
    const errors: ParseError[] = []
    const root = parseTree(this.#text, errors, { allowTrailingComma: true })
    const [error] = errors
    if (error) throw new Damaged(lineOf(this.#text, error.offset), wordsOf(printParseErrorCode(error.error)))
    if (!root) throw new Damaged(1, 'it holds no JSON object')
    return root
  }

  #node(path: Path): Node | undefined {
    return path.reduce<Node | undefined>((node, step) => node && childOf(node, step), this.#root())
  }

  /** The innermost node on the way that there is, and the rest of the way. */
  #deepest(path: Path): [Node, Path] {
    for (let length = path.length - 1; length > 0; length--) {
      const node = this.#node(path.slice(0, length))
      if (node) return [node, path.slice(length)]
    }
    return [this.#root(), path]
  }

  #wrong({ offset }: Node, path: Path, what: string): Damaged {
    return new Damaged(lineOf(this.#text, offset), `on the way to ${path.join('.')} something ${what}`)
  }

  #edit(edits: readonly Edit[]): void {
    // from the back; of two at one place the later one first, so that it comes to stand behind
    for (const { offset, length, content } of [...edits].reverse().sort((a, b) => b.offset - a.offset))
      this.#text = this.#text.slice(0, offset) + content + this.#text.slice(offset + length)
  }
}

/** Of members with one name the last counts, as for every reader of JSON (RFC 8259, section 4). */
function childOf({ type, children = [] }: Node, step: string | number): Node | undefined {
  if (typeof step === 'number') return type === 'array' ? children[step] : undefined
  if (type !== 'object') return undefined
  return children.findLast((property) => property.children?.[0]?.value === step)?.children?.[1]
}

/** The library makes objects without a prototype, which equal no others. */
const plainValue = (node: Node): Value => structuredClone(getNodeValue(node))

/** `CommaExpected` → `comma expected`. */
const wordsOf = (name: string): string => name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
