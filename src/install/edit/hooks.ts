// Our hooks in a client's JSON, in both forms: lists of handlers, and lists of groups that hold handlers.
import type { JsonText, Path, Value } from './json.ts'

export type Handler = { readonly [member: string]: Value }

export type HookForm = {
  /** Groups `{matcher?, hooks: [handler]}`, as Claude Code has them, or handlers themselves. */
  grouped: boolean
  isOurs: (handler: Handler) => boolean
}

const HOOKS = 'hooks'

/** Event → our handler there, or ours. */
export type Wanted = Readonly<Record<string, Handler | readonly Handler[]>>

/** Makes exactly `wanted` of our handlers stand in the file. Everybody else's stay where they are. */
export function putHooks(json: JsonText, wanted: Wanted, form: HookForm): void {
  for (const event of eventsOf(json)) {
    const want = handlersOf(wanted, event)
    const ours = [...placesOf(json, event, form)]
    // ours are mended where they stand
    if (ours.length === want.length) for (const [at, place] of ours.entries()) json.set(place, { ...want[at] })
    else dropEvent(json, event, form)
  }
  for (const event of Object.keys(wanted)) {
    if ([...placesOf(json, event, form)].length > 0) continue
    for (const handler of handlersOf(wanted, event))
      json.append([HOOKS, event], form.grouped ? { hooks: [{ ...handler }] } : { ...handler })
  }
}

function handlersOf(wanted: Wanted, event: string): readonly Handler[] {
  const want = wanted[event]
  if (want === undefined) return []
  return isList(want) ? want : [want]
}

const isList = (want: Handler | readonly Handler[]): want is readonly Handler[] => Array.isArray(want)

/** Takes ours out. */
export function dropHooks(json: JsonText, form: HookForm): void {
  for (const event of eventsOf(json)) dropEvent(json, event, form)
}

function dropEvent(json: JsonText, event: string, form: HookForm): void {
  // from the back, so that the places in front stay right
  for (const place of [...placesOf(json, event, form)].reverse()) {
    const group = place.slice(0, 3)
    const alone = form.grouped && lengthAt(json, [...group, HOOKS]) === 1
    json.remove(alone ? group : place)
  }
}

function eventsOf(json: JsonText): string[] {
  const hooks = json.at([HOOKS])
  return typeof hooks === 'object' && hooks !== null && !Array.isArray(hooks) ? Object.keys(hooks) : []
}

function* placesOf(json: JsonText, event: string, { grouped, isOurs }: HookForm): Generator<Path> {
  for (const [index, item] of listAt(json, [HOOKS, event]).entries()) {
    if (!grouped) {
      if (isHandler(item) && isOurs(item)) yield [HOOKS, event, index]
      continue
    }
    const path = [HOOKS, event, index, HOOKS]
    for (const [at, handler] of listAt(json, path).entries())
      if (isHandler(handler) && isOurs(handler)) yield [...path, at]
  }
}

const isHandler = (value: Value): value is { [member: string]: Value } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function listAt(json: JsonText, path: Path): Value[] {
  const found = json.at(path)
  return Array.isArray(found) ? found : []
}

const lengthAt = (json: JsonText, path: Path): number => listAt(json, path).length
