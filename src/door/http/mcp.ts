// POST /mcp: hands the proved visitor to the MCP door.

import { run } from '../../engine/engine.ts'
import type { Caller } from '../../engine/mail.ts'
import type { Said } from '../../identity/identify.ts'
import { LOOKS } from '../../wire/look.ts'
import { OPERATIONS, type OperationName } from '../../wire/operations.ts'
import { handleMcp } from '../mcp/door.ts'
import { type MailVisitor, mailTools } from '../mcp/tools.ts'
import { onlyLooks, type Proof, prove } from './caller.ts'
import { checked } from './checked.ts'
import type { Door } from './door.ts'
import { type BodySize, bounded } from './guard.ts'
import { headers } from './reply.ts'

/** Answers an MCP request with our headers on it. A 202 has no body, and then no content type either. */
export async function answerMcp(door: Door, request: Request, size: BodySize): Promise<Response> {
  const visitor = visit(door, await prove(door, request), onlyLooks(request))
  const answer = await handleMcp(await bounded(request, size), mailTools, visitor)
  for (const [name, value] of Object.entries(headers(request)))
    if (name !== 'content-type') answer.headers.set(name, value)
  return answer
}

function visit(door: Door, { account, verdict, over }: Proof, looks: boolean): MailVisitor {
  // over the Unix socket comes our bridge, a one-shot caller: the client above it is the session
  const caller = (said: Said): Caller | Promise<Caller> => door.identity.caller(account, verdict, said, over === 'tcp')
  const who = (operation: OperationName, said: Said): Caller | Promise<Caller> =>
    looks && LOOKS.has(operation) ? door.identity.look(account, verdict) : caller(said)
  return {
    greet: async (said) => door.identity.greet(account, verdict, said),
    perform: (operation, request, said, patience) =>
      door.metrics.timed(operation, 'mcp', async () =>
        run(
          door.mail,
          operation,
          await who(operation, said),
          checked(OPERATIONS[operation].request, request),
          patience,
        ),
      ),
  }
}
