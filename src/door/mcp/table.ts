// What a door is given to offer: tools, and how one is called. The mailbox has one table, the conformance fixture another.
import type { Patience } from '../../engine/mail.ts'
import type { Said } from '../../identity/identify.ts'
import { Json } from '../../wire/json.ts'
import type { Refusal } from '../../wire/refusal.ts'

/** A tool as `tools/list` shows it. */
export type Tool = {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: object
  readonly annotations?: object
}

/** `structuredContent` may be ready text. Bad arguments and refusals are results too, so that the model can mend them. */
export type ToolResult = {
  readonly content: readonly object[]
  readonly structuredContent?: object
  readonly isError?: true
}

/** Who stands at the door: made for one HTTP request, whose bearer and process are proved already. */
export interface Visitor {
  /**
   * A client introduces itself (`initialize`, `server/discover`): may it call at all? Its session begins with its first call.
   * @throws Refusal, which the HTTP door renders
   */
  greet(said: Said): Promise<void>
}

/** What one call brings besides its arguments. */
export type Call = { readonly said: Said; readonly patience: Patience }

export interface ToolTable<V extends Visitor> {
  /** In the order in which they are listed, always the same. */
  readonly list: readonly Tool[]
  /** Null when there is no such tool. Throws only what is a fault of ours, or an RpcError. */
  call(name: string, args: unknown, call: Call, visitor: V): Promise<ToolResult | null>
}

/** The answer of an operation: compact JSON as text and, for clients that read it, the same as structured content. */
export function answered(answer: object): ToolResult {
  const text = answer instanceof Json ? answer.text : JSON.stringify(answer)
  return { content: [{ type: 'text', text }], structuredContent: new Json(text) }
}

/** A refusal: the one refusal object, as text and structured. */
export const refused = (refusal: Refusal): ToolResult => ({ ...answered(refusal), isError: true })

/** The members of a CallToolResult, without braces: each era adds its own. */
export function membersOf({ content, structuredContent, isError }: ToolResult): string {
  const ready = structuredContent instanceof Json ? structuredContent.text : JSON.stringify(structuredContent)
  const structured = structuredContent ? `,"structuredContent":${ready}` : ''
  return `"content":${JSON.stringify(content)}${structured}${isError ? ',"isError":true' : ''}`
}
