// Getting a device on the homeserver: by password, login token, registration token, or an access token that is there. Matrix CS §5.
import { randomBytes } from 'node:crypto'
import { Refusal } from '../../wire/refusal.ts'
import { type Homeserver, HomeserverError, isJson, type Json } from './homeserver.ts'

/** One way of logging in; secrets stay in memory and the vault. */
export type Credentials =
  | { way: 'password'; user: string; password: string }
  | { way: 'access_token'; token: string }
  | { way: 'login_token'; token: string }
  | { way: 'registration_token'; user: string; token: string }

export type Session = {
  user: string
  device: string
  token: string
  /** Needed for what the homeserver asks authentication for; null where we have none. */
  password: string | null
}

const DEVICE_NAME = 'mail4agent'

/** @throws Refusal `homeserver` with what it answered */
export async function logIn(homeserver: Homeserver, credentials: Credentials): Promise<Session> {
  try {
    return await sessionBy(homeserver, credentials)
  } catch (error) {
    throw error instanceof HomeserverError ? error.toRefusal() : error
  }
}

async function sessionBy(homeserver: Homeserver, credentials: Credentials): Promise<Session> {
  switch (credentials.way) {
    case 'access_token': {
      homeserver.use(credentials.token)
      const answer = await homeserver.call('GET', '/account/whoami')
      return sessionOf({ ...answer, access_token: credentials.token }, null)
    }
    case 'password': {
      const { user, password } = credentials
      return sessionOf(
        await login(homeserver, { type: 'm.login.password', identifier: named(user), password }),
        password,
      )
    }
    case 'login_token':
      return sessionOf(await login(homeserver, { type: 'm.login.token', token: credentials.token }), null)
    case 'registration_token':
      return register(homeserver, credentials.user, credentials.token)
  }
}

const named = (user: string) => ({ type: 'm.id.user', user })

const login = (homeserver: Homeserver, body: object): Promise<Json> =>
  homeserver.call('POST', '/login', { ...body, initial_device_display_name: DEVICE_NAME })

/** A new account with a password that only the vault knows. */
async function register(homeserver: Homeserver, user: string, token: string): Promise<Session> {
  const username = user.replace(/^@/, '').replace(/:.*$/, '')
  const password = randomBytes(24).toString('base64url')
  const body = { username, password, initial_device_display_name: DEVICE_NAME }
  const answer = await withAuth(
    (auth) => homeserver.call('POST', '/register', { ...body, ...(auth ? { auth } : {}) }),
    (stage) => {
      if (stage === 'm.login.registration_token') return { type: stage, token }
      return stage === 'm.login.dummy' ? { type: stage } : null
    },
  )
  return sessionOf(answer, password)
}

/** User-interactive authentication, Matrix CS §5.6: answers the stages of the first flow that `answer` knows all of. */
export async function withAuth(
  call: (auth: object | null) => Promise<Json>,
  answer: (stage: string) => object | null,
): Promise<Json> {
  let auth: object | null = null
  for (let round = 0; round < 5; round++) {
    try {
      return await call(auth)
    } catch (error) {
      if (!(error instanceof HomeserverError) || error.status !== 401) throw error
      const next = nextStage(error.body, answer)
      // with an error code a stage was refused, and would be again: Matrix CS §5.6.1
      if (!next || typeof error.body.errcode === 'string') throw error
      auth = next
    }
  }
  throw new Refusal('homeserver', 'the homeserver asks for authentication again and again')
}

function nextStage(body: Json, answer: (stage: string) => object | null): object | null {
  const completed = new Set(Array.isArray(body.completed) ? body.completed : [])
  const flows = Array.isArray(body.flows) ? body.flows : []
  for (const flow of flows) {
    const stages = isJson(flow) && Array.isArray(flow.stages) ? flow.stages.map(String) : []
    if (!stages.every((stage) => completed.has(stage) || answer(stage))) continue
    const stage = stages.find((one) => !completed.has(one))
    if (stage !== undefined) return { ...answer(stage), session: body.session }
  }
  return null
}

/** Uploads our cross-signing keys, with the password where the homeserver asks for one. */
export async function uploadSigningKeys(homeserver: Homeserver, keys: string, session: Session): Promise<void> {
  const body: Json = JSON.parse(keys)
  const { password, user } = session
  await withAuth(
    (auth) => homeserver.call('POST', '/keys/device_signing/upload', { ...body, ...(auth ? { auth } : {}) }),
    (stage) => {
      if (stage === 'm.login.dummy') return { type: stage }
      return stage === 'm.login.password' && password !== null
        ? { type: stage, identifier: named(user), password }
        : null
    },
  )
}

function sessionOf(answer: Json, password: string | null): Session {
  const { user_id: user, device_id: device, access_token: token } = answer
  if (typeof user !== 'string' || typeof device !== 'string' || typeof token !== 'string')
    throw new Refusal('homeserver', 'the homeserver logged us in without a device')
  return { user, device, token, password }
}
