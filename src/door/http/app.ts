// The HTTP door: one Elysia app made from the tables of operations and admin routes. It decides nothing about mail.
import { Elysia } from 'elysia'
import { administer } from '../../engine/admin/admin.ts'
import { chat } from '../../engine/chat.ts'
import { run } from '../../engine/engine.ts'
import type { Patience } from '../../engine/mail.ts'
import { ADMIN, type AdminRoute } from '../../wire/admin.ts'
import { CHAT, CHAT_COMMANDS, type ChatCommand } from '../../wire/chat.ts'
import type { Json } from '../../wire/json.ts'
import { LIMITS } from '../../wire/limits.ts'
import { ADMIN_LOOKS, LOOKS } from '../../wire/look.ts'
import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../../wire/operations.ts'
import { Refusal } from '../../wire/refusal.ts'
import { UI, type UiRoute } from '../../wire/ui.ts'
import { checkPageMay } from '../ui/allowed.ts'
import { LOGINS } from '../ui/logins.ts'
import { callerOf, lookerOf } from './caller.ts'
import { checked } from './checked.ts'
import type { Door } from './door.ts'
import { streamEvents } from './events.ts'
import { type BodySize, checkBody, checkSource, readJson } from './guard.ts'
import { healthAnswer } from './health.ts'
import { answerMcp } from './mcp.ts'
import { metricsAnswer } from './metrics-text.ts'
import { openapi } from './openapi.ts'
import { refuse } from './refuse.ts'
import { reply } from './reply.ts'

type Handler = (context: { request: Request }) => Response | Promise<Response>
type Work = (request: Request, size: BodySize) => Promise<Response>
type Perform = (request: Request, size: BodySize) => Promise<object | Json>

/** path → the method it takes: what a wrong method is told. */
const methods = new Map<string, 'GET' | 'POST'>([
  ['/health', 'GET'],
  ['/openapi.json', 'GET'],
  ['/events', 'GET'],
  ['/metrics', 'GET'],
  ['/mcp', 'POST'],
  ...OPERATION_NAMES.map((name) => [`/mail/${name}`, 'POST'] as const),
  ...adminRoutes().map((route) => [`/admin/${route}`, 'POST'] as const),
  ...CHAT_COMMANDS.map((name) => [`/chat/${name}`, 'POST'] as const),
  ['/ui', 'GET'],
  ...uiRoutes().map((route) => [`/ui/${route}`, 'POST'] as const),
])

/** The app of one door. Its `fetch` takes each request after `cameOver` has told its connection. */
export function createApp(door: Door) {
  // bodies are read and checked by us: after the caller is proved, and with refusals that name the field
  const app = new Elysia({ normalize: false, strictPath: true })
    .onRequest(({ request }) => checkSource(request))
    .onError(({ code, error, request }) => refuse(code === 'NOT_FOUND' ? missing(request) : error, request, door))
    .get('/health', ({ request }) => health(door, request))
    .get('/openapi.json', guarded(door, openapiRoute(door)))
    .get('/events', guarded(door, eventsRoute(door)))
    .get('/metrics', guarded(door, metricsRoute(door)))
    .get('/ui', guarded(door, pageRoute(door)))
    .get('/ui/*', guarded(door, pageRoute(door)))
    .post(
      '/mcp',
      guarded(door, (request, size) => answerMcp(door, request, size)),
      { parse: 'none' },
    )
  for (const name of OPERATION_NAMES)
    app.post(`/mail/${name}`, counted(door, name, mailRoute(door, name)), { parse: 'none' })
  for (const route of adminRoutes())
    app.post(`/admin/${route}`, counted(door, `admin/${route}`, adminRoute(door, route)), { parse: 'none' })
  for (const name of CHAT_COMMANDS)
    app.post(`/chat/${name}`, counted(door, `chat/${name}`, chatRoute(door, name)), { parse: 'none' })
  for (const route of uiRoutes()) app.post(`/ui/${route}`, guarded(door, loginRoute(door, route)), { parse: 'none' })
  return app
}

/** Around every route: no calls while stopping, bodies only as JSON, and every error as the one refusal. */
function guarded(door: Door, work: Work): Handler {
  const { calls } = door
  return async ({ request }) => {
    calls.enter()
    let response: Response
    try {
      response = await work(request, sizeIfOpen(door, request))
    } catch (error) {
      response = refuse(error, request, door)
    }
    return left(door, response)
  }
}

/** As `guarded`, for a route whose calls are counted under a name. One function, and not one around the other: each costs a send. */
function counted(door: Door, operation: string, perform: Perform): Handler {
  const { calls, metrics } = door
  return async ({ request }) => {
    calls.enter()
    const began = performance.now()
    let response: Response
    try {
      const answer = await perform(request, sizeIfOpen(door, request))
      metrics.answered(operation, 'http', began)
      response = reply(request, answer)
    } catch (error) {
      metrics.refused(operation, 'http', began, error)
      response = refuse(error, request, door)
    }
    return left(door, response)
  }
}

/** @throws Refusal `shutting_down`, those of `checkBody` */
function sizeIfOpen({ calls }: Door, request: Request): BodySize {
  if (calls.closed.aborted) throw new Refusal('shutting_down', 'the mailbox is stopping')
  return checkBody(request)
}

function left({ calls }: Door, response: Response): Response {
  if (calls.closed.aborted) response.headers.set('connection', 'close') // or the listener waits for what is kept open
  calls.leave()
  return response
}

function mailRoute(door: Door, name: OperationName): Perform {
  const { request: schema } = OPERATIONS[name]
  const who = LOOKS.has(name) ? lookerOf : callerOf
  return async (request, size) => {
    const caller = await who(door, request)
    return run(door.mail, name, caller, checked(schema, await readJson(request, size)), patience(request))
  }
}

function adminRoute(door: Door, route: AdminRoute): Perform {
  const { request: schema } = ADMIN[route]
  const who = ADMIN_LOOKS.has(route) ? lookerOf : callerOf
  return async (request, size) => {
    const caller = await who(door, request)
    checkPageMay(door, request, route)
    return administer(door.mail, route, caller, checked(schema, await readJson(request, size)))
  }
}

function chatRoute(door: Door, name: ChatCommand): Perform {
  const { request: schema } = CHAT[name]
  return async (request, size) => {
    const caller = await callerOf(door, request)
    return chat(door.mail, name, caller, checked(schema, await readJson(request, size)))
  }
}

/** The page's code is loaded when somebody opens it. */
const pageRoute =
  (door: Door): Work =>
  async (request) => {
    const { staticAnswer } = await import('../ui/static.ts')
    const name = new URL(request.url).pathname.slice('/ui/'.length) || 'index.html'
    const answer = await staticAnswer(door, request, name)
    if (!answer) throw missing(request)
    return answer
  }

const loginRoute =
  (door: Door, route: UiRoute): Work =>
  async (request, size) =>
    reply(request, await LOGINS[route](door, request, await readJson(request, size)))

const openapiRoute =
  (door: Door): Work =>
  async (request) => {
    await callerOf(door, request)
    return reply(request, openapi())
  }

const eventsRoute =
  (door: Door): Work =>
  async (request) =>
    streamEvents(door, await callerOf(door, request), request)

const metricsRoute =
  (door: Door): Work =>
  async (request) =>
    metricsAnswer(door, await callerOf(door, request), request)

function health(door: Door, request: Request): Response {
  const answer = healthAnswer(door.health, door.mail.store.fault, door.mail.now(), door.mail.desktop.counts)
  return reply(request, answer, answer.ok ? 200 : 503)
}

/** The signal is made when somebody asks: only waits do. */
const patience = (request: Request): Patience => ({
  capSeconds: LIMITS.waitHttp,
  get signal() {
    return request.signal
  },
})

/** Unknown paths need no bearer: clients probe for OAuth and must get a plain 404. */
function missing(request: Request): Refusal {
  const allow = methods.get(new URL(request.url).pathname)
  if (allow) return new Refusal('method_not_allowed', `this route takes ${allow}`, { allow })
  return new Refusal('not_found', 'no such route')
}

function uiRoutes(): UiRoute[] {
  return Object.keys(UI) as UiRoute[] // the keys of a constant table
}

function adminRoutes(): AdminRoute[] {
  return Object.keys(ADMIN) as AdminRoute[] // the keys of a constant table
}
