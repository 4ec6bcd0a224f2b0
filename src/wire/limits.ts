// Every limit of the mailbox, once. Bytes are UTF-8 bytes; a value over its limit is refused with the limit, never cut.

export const LIMITS = {
  /** Account and room names, reference kinds, keys: bytes. */
  name: 128,
  label: 512,
  subject: 512,
  body: 65_536,
  correlation: 512,
  key: 128,
  references: 8,
  locator: 512,
  recipients: 100,
  /** Own names for addresses, of one account. */
  aliases: 500,
  /** Ids in one ack, reopen or claim. */
  batch: 100,
  /** Letters in one import, and copies of one of them. */
  importBatch: 100,
  importCopies: 10_000,
  /** Letters that one close_all closes, in one transaction; it says how to go on. */
  sweep: 1_000,
  /** Declared and corroborated facts of a card: bytes; longer corroborated ones are cut, longer declared ones refused. */
  fact: 512,
  url: 512,
  query: 512,
  pageDefault: 50,
  pageMax: 256,
  /** Bytes of one list answer unless the caller asks for another budget. */
  budgetDefault: 40_000,
  /** The same for a model: clients cut longer tool results in the middle, from 10 to 12 KB on (seen with Codex). */
  budgetMcp: 10_000,
  budgetMin: 2_000,
  budgetMax: 1_000_000,
  /** Seconds that a wait may be held: HTTP clients give up at 60, MCP clients too, so MCP stops earlier. */
  waitHttp: 60,
  waitMcp: 50,
  claimSeconds: 3_600,
  /** Above this a message is stored but wakes and rings nobody. */
  hopQuiet: 16,
  hopMax: 256,
  /** Per account: messages per second, and burst. */
  accountRate: 2_000,
  accountBurst: 4_000,
  /** And bytes of their bodies: per second, and burst. */
  accountBytesRate: 16_777_216,
  accountBytesBurst: 268_435_456,
  /** Calls of one account that are at work at once, and those that wait for their turn behind them. */
  callsAtOnce: 8,
  callsWaiting: 2_000,
  /** Waits that are parked: of one account, and of all together. */
  waitsAccount: 2_000,
  waitsAll: 20_000,
  /** Readers of /events: of one account, and of all together. */
  eventsAccount: 32,
  eventsAll: 512,
  /** Open connections: of one account (each of its waits holds one), and of all together. */
  connectionsAccount: 2_048,
  connectionsAll: 8_192,
  /** Calls without a valid token, of all together: per second, and burst. */
  unknownRate: 50,
  unknownBurst: 500,
  /** Live sessions of one account. */
  sessionsAccount: 10_000,
  /** Per pair of accounts, for mail that would wake or ring: per minute, and burst. */
  pairPerMinute: 120,
  pairBurst: 60,
  /** Bytes of an HTTP request body: 100 recipients and an escaped 64 KiB body fit. */
  request: 1_048_576,
  /** Calls in one JSON-RPC batch. */
  rpcBatch: 50,
  /** A text for a Matrix room: encrypted it stays below the 65,536 bytes that an event may have. */
  chatText: 30_000,
  chatPage: 200,
  /** Seconds of the oldest unread letter after which a send says that nobody drains that mailbox. */
  undrained: 600,
} as const
