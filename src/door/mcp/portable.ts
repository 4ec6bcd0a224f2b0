// An input schema in the part of JSON Schema that every agent client and model provider takes.
import { Kind, type TSchema } from '@sinclair/typebox'

/** What is left out (null, patterns, lengths of ids) is still accepted or checked at the call: this is for a model to read. */
const KEPT = ['minimum', 'maximum', 'maxItems'] as const

/**
 * A request schema for `tools/list`: an object without unions, `$ref` or nullable forms at the top.
 * `about` describes fields in words; without one the schema's own description stands.
 */
export function inputSchema(request: TSchema, about: { readonly [field: string]: string }): object {
  return object(request, (name) => about[name])
}

function object(schema: TSchema, about: (field: string) => string | undefined): object {
  const fields = Object.entries<TSchema>(schema.properties)
  const properties = Object.fromEntries(fields.map(([name, field]) => [name, portable(field, about(name))]))
  const required = fields.map(([name]) => name).filter((name) => schema.required?.includes(name))
  return { type: 'object', properties, ...(required.length ? { required } : {}), additionalProperties: false }
}

function portable(schema: TSchema, about?: string): object {
  const description = about ?? schema.description
  const words = description ? { description } : {}
  if (schema[Kind] === 'Union') return { ...union(schema), ...words }
  if (schema[Kind] === 'Literal') return { type: 'string', enum: [schema.const], ...words }
  const limits = Object.fromEntries(KEPT.filter((key) => key in schema).map((key) => [key, schema[key]]))
  if (schema[Kind] === 'Array') return { type: 'array', items: portable(schema.items), ...limits, ...words }
  if (schema[Kind] === 'Object') return { ...object(schema, () => ''), ...words }
  return { type: schema.type, ...limits, ...words }
}

/** Optional is said by `required` alone; literals become one enum; objects told apart by `kind` become one object. */
function union(schema: TSchema): object {
  const forms = flatten(schema).filter((form) => form[Kind] !== 'Null')
  if (forms.every((form) => form[Kind] === 'Literal')) return { type: 'string', enum: forms.map((form) => form.const) }
  const tagged = forms.filter((form) => form[Kind] === 'Object')
  const others = forms.filter((form) => form[Kind] !== 'Object').map((form) => portable(form, ''))
  const [only, ...more] = tagged.length ? [...others, merge(tagged)] : others
  return more.length === 0 && only ? only : { anyOf: [only, ...more] }
}

const flatten = (schema: TSchema): TSchema[] => (schema[Kind] === 'Union' ? schema.anyOf.flatMap(flatten) : [schema])

function merge(tagged: TSchema[]): object {
  const names = new Set(tagged.flatMap((form) => Object.keys(form.properties)))
  const others = [...names].filter((name) => name !== 'kind').map((name) => [name, { type: 'string' }])
  const kind = { type: 'string', enum: tagged.map((form) => form.properties.kind.const) }
  return { type: 'object', properties: { kind, ...Object.fromEntries(others) }, required: ['kind'] }
}
