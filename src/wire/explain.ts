// How the mailbox came to whom it takes a caller for, step by step: what whoami answers when it is asked to explain.
import { type Static, Type } from '@sinclair/typebox'
import { nullable } from './letter.ts'
import { Name, SessionId } from './names.ts'
import { UnixMs } from './time.ts'

const text = nullable(Type.String())

export const ExplainedProcess = Type.Object({
  pid: Type.Integer(),
  started_at_unix_ms: UnixMs,
  exe: text,
  uid: Type.Integer(),
  agent: nullable(Type.String({ description: 'the agent client that it is, and by what: exe, script or name' })),
  session: nullable(Type.String({ description: 'a live session of that very process' })),
})
export type ExplainedProcess = Static<typeof ExplainedProcess>

/** Never an argument vector and never an environment: those may hold secrets. */
export const Explanation = Type.Object({
  connection: Type.Object({
    over: Type.Union([Type.Literal('tcp'), Type.Literal('unix')]),
    name: Type.String({ description: 'the port of the caller, and the name that the kernel gives the socket' }),
    proof: Type.String({ description: 'how its one holder was found' }),
  }),
  process: ExplainedProcess,
  ancestors: Type.Array(ExplainedProcess),
  forwarder: text,
  anchor: Type.Object({ rule: Type.String(), because: Type.String(), process: ExplainedProcess }),
  account: Type.Object({ id: Name, token: Type.String() }),
  session: Type.Object({
    id: SessionId,
    made_of: Type.Array(Type.Object({ name: Type.String(), value: text })),
    conversation: Type.String({ description: 'how the conversation was chosen' }),
  }),
  facts: Type.Array(Type.Object({ name: Type.String(), value: Type.String(), source: Type.String() })),
})
export type Explanation = Static<typeof Explanation>
