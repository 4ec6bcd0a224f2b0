// Checks a request against its schema and names the first fault as a refusal; both doors use it.
import { Kind, type TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { malformed, type Refusal, tooLarge } from '../wire/refusal.ts'
import { bytes, cutFact } from '../wire/text.ts'

const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>()

/**
 * Null when `value` (parsed JSON) is what `schema` says, else why not: `malformed` {field, reason}, or `too_large`
 * {field, limit, actual} for what is over its limit. Unknown fields come first, by name. Never holds the caller's values.
 */
export function checkRequest(schema: TSchema, value: unknown): Refusal | null {
  let check = compiled.get(schema)
  if (!check) {
    check = TypeCompiler.Compile(schema)
    compiled.set(schema, check)
  }
  if (check.Check(value)) return null
  return explain(schema, value, '') ?? malformed('request', 'does not match its schema')
}

/** The first fault of `value`, or null: an interpreter of the schema forms that requests are made of. */
function explain(schema: TSchema, value: unknown, at: string): Refusal | null {
  const bad = (reason: string) => malformed(at || 'request', reason)
  switch (schema[Kind]) {
    case 'Object':
      return isObject(value) ? explainObject(schema, value, at) : bad('must be a JSON object')
    case 'Array':
      return Array.isArray(value) ? explainArray(schema, value, at) : bad('must be an array')
    case 'Union':
      return explainUnion(schema.anyOf, value, at)
    case 'String':
      return typeof value === 'string' ? explainString(schema, value, at) : bad('must be a string')
    case 'Integer':
      return Number.isInteger(value) ? explainRange(schema, Number(value), at) : bad('must be an integer')
    case 'Boolean':
      return typeof value === 'boolean' ? null : bad('must be true or false')
    case 'Literal':
      return value === schema.const ? null : bad(`must be ${schema.const}`)
    case 'Null':
      return value === null ? null : bad('must be null')
    default:
      return null
  }
}

function explainObject(schema: TSchema, value: Record<string, unknown>, at: string): Refusal | null {
  const properties: Record<string, TSchema> = schema.properties
  const field = (name: string) => (at ? `${at}.${name}` : name)
  for (const name of Object.keys(value))
    if (!Object.hasOwn(properties, name))
      return malformed(field(cutFact(name, 128) ?? ''), 'is no field of this request')
  for (const name of schema.required ?? []) if (!Object.hasOwn(value, name)) return malformed(field(name), 'is missing')
  for (const [name, property] of Object.entries(properties)) {
    if (!Object.hasOwn(value, name)) continue
    const fault = explain(property, value[name], field(name))
    if (fault) return fault
  }
  return null
}

function explainArray(schema: TSchema, value: unknown[], at: string): Refusal | null {
  if (value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY))
    return tooLarge(at, schema.maxItems, value.length, 'entries')
  if (value.length < (schema.minItems ?? 0)) return malformed(at, `needs ${schema.minItems} or more`)
  for (const [index, item] of value.entries()) {
    const fault = explain(schema.items, item, `${at}[${index}]`)
    if (fault) return fault
  }
  return null
}

/** Of a union, the fault of the one form that the value was meant as; else which forms there are. */
function explainUnion(variants: TSchema[], value: unknown, at: string): Refusal | null {
  const forms = variants.flatMap(flatten)
  const faults = forms.map((form) => explain(form, value, at))
  if (faults.includes(null)) return null
  const meant = faults.filter((_, index) => isMeant(forms[index], value))
  if (meant.length === 1 && meant[0]) return meant[0]
  return malformed(at, `must be ${[...new Set(forms.map(describe))].filter((form) => form !== 'null').join(' or ')}`)
}

const flatten = (schema: TSchema): TSchema[] => (schema[Kind] === 'Union' ? schema.anyOf.flatMap(flatten) : [schema])

/** Tagged objects are told apart by `kind`, everything else by its JSON type. */
function isMeant(form: TSchema | undefined, value: unknown): boolean {
  if (form?.[Kind] === 'Object') return isObject(value) && [value.kind, undefined].includes(form.properties.kind?.const)
  if (form?.[Kind] === 'Array') return Array.isArray(value)
  if (form?.[Kind] === 'String') return typeof value === 'string'
  if (form?.[Kind] === 'Integer') return typeof value === 'number'
  return form?.[Kind] === 'Boolean' && value !== null
}

function describe(form: TSchema): string {
  if (form[Kind] === 'Literal') return String(form.const)
  if (form[Kind] === 'Object' && form.properties.kind) return `an object with kind ${form.properties.kind.const}`
  return (
    { String: 'a string', Array: 'an array', Integer: 'an integer', Boolean: 'true or false' }[form[Kind]] ?? 'null'
  )
}

function explainString(schema: TSchema, value: string, at: string): Refusal | null {
  if (value.length > (schema.maxLength ?? Number.POSITIVE_INFINITY)) return tooLarge(at, schema.maxLength, bytes(value))
  if (value.length < (schema.minLength ?? 0)) return malformed(at, 'must not be empty')
  if (schema.pattern === undefined || new RegExp(schema.pattern).test(value)) return null
  return malformed(at, schema.description ? `has not the right form: ${schema.description}` : 'has not the right form')
}

function explainRange({ minimum, maximum }: TSchema, value: number, at: string): Refusal | null {
  if (value < (minimum ?? Number.NEGATIVE_INFINITY)) return malformed(at, `must be ${minimum} or more`)
  const unit = at.endsWith('_secs') ? 'seconds' : ''
  return value > (maximum ?? Number.POSITIVE_INFINITY) ? tooLarge(at, maximum, value, unit) : null
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
