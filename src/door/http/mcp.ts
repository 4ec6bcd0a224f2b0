// POST /mcp: hands the proved visitor to the MCP door.

import { run } from '../../engine/engine.ts'
import type { Caller } from '../../engine/mail.ts'
import type { Said } from '../../identity/identify.ts'
import { OPERATIONS } from '../../wire/operations.ts'
import { handleMcp } from '../mcp/door.ts'
import { type MailVisitor, mailTools } from '../mcp/tools.ts'
import { type Proof, prove } from './caller.ts'
import { checked } from './checked.ts'
import type { Door } from './door.ts'
import { type BodySize, bounded } from './guard.ts'
import { headers } from './reply.ts'

/** Answers an MCP request with our headers on it. A 202 has no body, and then no content type either. */
export async function answerMcp(door: Door, request: Request, size: BodySize): Promise<Response> {
  const visitor = visit(door, await prove(door, request))
  const answer = await handleMcp(await bounded(request, size), mailTools, visitor)
  for (const [name, value] of Object.entries(headers(request)))
    if (name !== 'content-type') answer.headers.set(name, value)
  return answer
}

function visit(door: Door, { account, verdict, over }: Proof): MailVisitor {
  // over the Unix socket comes our bridge, a one-shot caller: the client above it is the session
  const caller = (said: Said): Caller | Promise<Caller> => door.identity.caller(account, verdict, said, over === 'tcp')
  return {
    greet: async (said) => door.identity.greet(account, verdict, said),
    perform: (operation, request, said, patience) =>
      door.metrics.timed(operation, 'mcp', async () =>
        run(door.mail, operation, await caller(said), checked(OPERATIONS[operation].request, request), patience),
      ),
  }
}
