// /openapi.json: every route with its request and answer, generated from the tables of wire/.
import { type TSchema, Type } from '@sinclair/typebox'
import { Address, AddressInput } from '../../wire/address.ts'
import { Account, ADMIN } from '../../wire/admin.ts'
import { Card, SessionEntry } from '../../wire/card.ts'
import { CHAT, ChatRoom, ChatText } from '../../wire/chat.ts'
import { DoorbellRing } from '../../wire/doorbell.ts'
import { DispatchEvent, MailEvent } from '../../wire/events.ts'
import { Message, Receipt, Reference } from '../../wire/letter.ts'
import { OPERATIONS } from '../../wire/operations.ts'
import { REFUSALS } from '../../wire/refusal.ts'
import { RefusalBody } from '../../wire/refusal-body.ts'
import { UI } from '../../wire/ui.ts'
import { VERSION } from '../version.ts'

/** Shapes that occur in several places: written once and referred to. */
const SHARED: Record<string, TSchema> = {
  Address,
  AddressInput,
  Message,
  Receipt,
  Reference,
  Card,
  SessionEntry,
  Account,
  ChatRoom,
  ChatText,
  Refusal: RefusalBody,
}
const nameOf = new Map<object, string>(Object.entries(SHARED).map(([name, schema]) => [schema, name]))

let made: object | undefined

/** The document, OpenAPI 3.1; made once. */
export function openapi(): object {
  made ??= {
    openapi: '3.1.0',
    info: {
      title: 'mail4agent',
      version: VERSION,
      description:
        'A mailbox for agent sessions. The bearer names the account; the kernel names the calling process. Null means absent.',
    },
    servers: [{ url: 'http://127.0.0.1:18301' }],
    security: [{ bearer: [] }],
    paths: { ...mailPaths(), ...chatPaths(), ...adminPaths(), ...uiPaths(), ...otherPaths() },
    webhooks: { doorbell: { post: doorbell() } },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries(Object.entries(SHARED).map(([name, schema]) => [name, members(schema)])),
      responses: { Refusal: { description: kinds(), content: json(refer(RefusalBody)) } },
    },
  }
  return made
}

const mailPaths = () =>
  Object.fromEntries(
    Object.entries(OPERATIONS).map(([name, { summary, request, answer, need }]) => [
      `/mail/${name}`,
      post(name, 'mail', need ? `${summary} (needs ${need})` : summary, request, answer),
    ]),
  )

const chatPaths = () =>
  Object.fromEntries(
    Object.entries(CHAT).map(([name, { summary, request, answer }]) => [
      `/chat/${name}`,
      post(`chat-${name}`, 'chat', `${summary} (needs chat)`, request, answer),
    ]),
  )

const adminPaths = () =>
  Object.fromEntries(
    Object.entries(ADMIN).map(([route, { summary, request, answer }]) => [
      `/admin/${route}`,
      post(`admin-${route.replaceAll('/', '-')}`, 'admin', summary, request, answer),
    ]),
  )

const uiPaths = () =>
  Object.fromEntries(
    Object.entries(UI).map(([route, { summary, request, answer }]) => [
      `/ui/${route}`,
      post(`ui-${route}`, 'ui', summary, request, answer),
    ]),
  )

function otherPaths() {
  const cursor = (name: string, where: string) => ({ name, in: where, required: false, schema: { type: 'string' } })
  const object = json({ type: 'object' })
  return {
    '/health': { get: { ...get('health', 'is the mailbox up; needs no bearer', object), security: [] } },
    '/ui': { get: { ...get('ui', 'the web page; needs no bearer', { 'text/html': {} }), security: [] } },
    '/openapi.json': { get: get('openapi', 'this document', object) },
    '/metrics': { get: get('metrics', 'Prometheus text (needs operator)', { 'text/plain': {} }) },
    '/events': {
      get: {
        ...get('events', 'what happens to mail and dispatches that the caller may see, ids only, as it happens', {
          'text/event-stream': { schema: refer(Type.Union([MailEvent, DispatchEvent])) },
        }),
        parameters: [cursor('cursor', 'query'), cursor('Last-Event-ID', 'header')],
      },
    },
    '/mcp': { post: post('mcp', 'mcp', 'Model Context Protocol, JSON-RPC 2.0', {}, {}).post },
  }
}

/** What the mailbox sends to the URL that /admin/listener has set. */
const doorbell = () => ({
  operationId: 'doorbell',
  tags: ['listener'],
  summary: 'mail has come: a ring at the listener of an account, ids only',
  description:
    'Rung again, less and less often, until somebody has opened or closed the message. Any 2xx is a success; a redirect is none.',
  security: [],
  parameters: [
    {
      name: 'X-M4A-Signature',
      in: 'header',
      required: true,
      description:
        'sha256= and the lower-case hex HMAC-SHA-256 over the raw body. Its key is the text that /admin/listener answered as key.',
      schema: { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' },
    },
  ],
  requestBody: { required: true, content: json(refer(DoorbellRing)) },
  responses: { '2XX': { description: 'heard' } },
})

function post(operationId: string, tag: string, summary: string, request: object, answer: object) {
  const requestBody = { content: json(refer(request)) }
  return { post: { operationId, tags: [tag], summary, requestBody, responses: responses(json(refer(answer))) } }
}

const get = (operationId: string, summary: string, content: object) => ({
  operationId,
  summary,
  responses: responses(content),
})

const responses = (content: object) => ({
  '200': { description: 'done', content },
  default: { $ref: '#/components/responses/Refusal' },
})

const json = (schema: object) => ({ 'application/json': { schema } })

const kinds = (): string =>
  `a refusal, one of: ${Object.entries(REFUSALS)
    .map(([kind, { status }]) => `${kind} (${status})`)
    .join(', ')}`

/** `schema` as plain JSON Schema, or a reference where it is a shared one. */
function refer(schema: object): object {
  const name = nameOf.get(schema)
  return name ? { $ref: `#/components/schemas/${name}` } : members(schema)
}

const members = (schema: object): object =>
  Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, refined(value)]))

function refined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(refined)
  return typeof value === 'object' && value !== null ? refer(value) : value
}
