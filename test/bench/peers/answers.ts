// What the doors without a mailbox behind them answer to a send: a ready text of the real one's size.

export const SENT = JSON.stringify({
  message_id: 'm4a_000000000001000000000000',
  thread: 'm4a_000000000001000000000000',
  from: { kind: 'session', participant: 'sender-1', session: `s-${'0'.repeat(32)}` },
  from_text: `sender-1/s-${'0'.repeat(32)}`,
  results: [{ to: { kind: 'direct', participant: 'box-1' }, to_text: 'box-1', ok: true, state: 'new' }],
  hop: 0,
  created_at: new Date(0).toISOString(),
  created_at_unix_ms: 0,
  now: new Date(0).toISOString(),
})
