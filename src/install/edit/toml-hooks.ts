// Our hooks in a client's TOML: tables `[[hooks]]` of event and command, as Kimi Code has them.
import { isDeepStrictEqual } from 'node:util'
import type { TomlTable, TomlValue } from 'smol-toml'
import { parse } from 'smol-toml'
import { appendTable, type Block, checkOnlyOurs, readToml, tableLines, withoutBlocks } from './toml.ts'

const HEADER = '[[hooks]]'

type Form = { isOurs: (command: string) => boolean }

/** `wanted`: event → command line. @throws Damaged */
export function putTomlHooks(text: string, wanted: Readonly<Record<string, string>>, form: Form): string {
  const ours = hooksIn(readToml(text).values).filter((hook) => isOur(hook, form))
  const asWanted = Object.entries(wanted).map(([event, command]) => ({ event, command }))
  if (
    isDeepStrictEqual(
      ours.map(({ event, command }) => ({ event, command })),
      asWanted,
    )
  )
    return text
  let after = dropTomlHooks(text, form)
  for (const hook of asWanted) after = appendTable(readToml(after), tableLines(HEADER, hook))
  return checked(text, after, form)
}

export function dropTomlHooks(text: string, form: Form): string {
  const toml = readToml(text)
  if (!hooksIn(toml.values).some((hook) => isOur(hook, form))) return text
  const ours = ({ header, lines }: Block) => header === HEADER && isOur(parse(lines.join('\n')), form)
  return checked(text, withoutBlocks(toml, ours), form)
}

const isTable = (value: TomlValue): value is TomlTable =>
  typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date)

function hooksIn({ hooks }: TomlTable): TomlTable[] {
  return Array.isArray(hooks) ? hooks.filter(isTable) : []
}

const isOur = ({ command }: TomlTable, { isOurs }: Form): boolean => typeof command === 'string' && isOurs(command)

function checked(before: string, after: string, form: Form): string {
  checkOnlyOurs(before, after, (values) => {
    const others = hooksIn(values).filter((hook) => !isOur(hook, form))
    const { hooks: _, ...rest } = values
    return others.length === 0 ? rest : { ...rest, hooks: others }
  })
  return after
}
