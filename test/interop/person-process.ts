// A person at a Matrix client that is not ours: matrix-js-sdk with keys in memory. Orders come as JSON lines, events go out as such.
const { SDK = '', HOMESERVER = '', NAME = '' } = process.env
const sdk: any = await import(`${SDK}/node_modules/matrix-js-sdk/lib/index.js`)
const { logger }: any = await import(`${SDK}/node_modules/matrix-js-sdk/lib/logger.js`)
logger.setLevel?.('silent')
const tell = (what: object) => process.stdout.write(`${JSON.stringify(what)}\n`)

const password = `pw-${NAME}-0123456789`
const identifier = { type: 'm.id.user', user: NAME }
const session = await sdk
  .createClient({ baseUrl: HOMESERVER })
  .registerRequest({ username: NAME, password, auth: { type: 'm.login.dummy' } })
const client = sdk.createClient({
  baseUrl: HOMESERVER,
  userId: session.user_id,
  deviceId: session.device_id,
  accessToken: session.access_token,
})
await client.initRustCrypto({ useIndexedDB: false })
await client.startClient({ initialSyncLimit: 20 })
await new Promise<void>((resolve) =>
  client.on(sdk.ClientEvent.Sync, (state: string) => state === 'PREPARED' && resolve()),
)
const crypto = client.getCrypto()
await crypto.bootstrapCrossSigning({
  authUploadDeviceSigningKeys: async (make: (auth: object | null) => Promise<void>) => {
    try {
      await make(null)
    } catch (error: any) {
      await make({ type: 'm.login.password', identifier, password, session: error.data?.session })
    }
  },
})
const { master_keys } = await client.downloadKeysForUsers([session.user_id])
tell({ user: session.user_id, key: Object.values(master_keys[session.user_id].keys)[0] })

client.on(sdk.RoomMemberEvent.Membership, async (_event: unknown, member: any) => {
  if (member.userId === session.user_id && member.membership === 'invite') {
    await client.joinRoom(member.roomId)
    tell({ joined: member.roomId })
  }
})
client.on(sdk.MatrixEventEvent.Decrypted, async (event: any) => {
  if (event.getSender() === session.user_id || event.isDecryptionFailure()) return
  const { msgtype, body, 'm.new_content': replaced, 'm.mentions': mentions } = event.getContent()
  const relation = event.getWireContent()['m.relates_to'] ?? event.getContent()['m.relates_to']
  const shield = await crypto.getEncryptionInfoForEvent(event)
  tell({
    room: event.getRoomId(),
    id: event.getId(),
    type: event.getType(),
    msgtype,
    body: replaced?.body ?? body,
    answers: relation?.['m.in_reply_to']?.event_id,
    relation,
    mentions,
    shield,
  })
})
client.on(sdk.RoomEvent.Redaction, (event: any) =>
  tell({ redacted: event.event.redacts ?? event.getContent().redacts }),
)
client.on(sdk.RoomMemberEvent.Typing, (_event: unknown, member: any) =>
  tell({ types: member.typing, user: member.userId }),
)
client.on(sdk.RoomEvent.Receipt, (event: any) => {
  for (const [id, types] of Object.entries<any>(event.getContent()))
    for (const user of Object.keys(types['m.read'] ?? {})) tell({ read: id, user })
})
client.on(sdk.RoomMemberEvent.Membership, (_event: unknown, member: any) =>
  tell({ member: member.userId, membership: member.membership, room: member.roomId }),
)

// two devices are compared: what is shown is told, and the order says whether it is the same
let request: any = null
let pictures: any = null
const compare = (one: any) => {
  let verifier: any = null
  request = one
  const look = () => {
    if (!one.verifier || verifier) return
    verifier = one.verifier
    verifier.on('show_sas', (sas: any) => {
      pictures = sas
      tell({ pictures: sas.sas.emoji.map(([symbol]: string[]) => symbol), decimals: sas.sas.decimal })
    })
    verifier.verify().then(
      () => tell({ compared: true }),
      (error: any) => tell({ compared: false, code: error?.code ?? one.cancellationCode, error: String(error) }),
    )
  }
  one.on('change', look)
  look()
}
client.on('crypto.verificationRequestReceived', (one: any) => {
  compare(one)
  tell({ asked: one.otherUserId })
})

for await (const line of console) {
  const order = JSON.parse(line)
  if (order.open) {
    const { room_id } = await client.createRoom({
      preset: 'trusted_private_chat',
      is_direct: true,
      invite: [order.open],
      initial_state: [{ type: 'm.room.encryption', state_key: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } }],
    })
    while (client.getRoom(room_id)?.getMember(order.open)?.membership !== 'join') await Bun.sleep(50)
    tell({ opened: room_id })
  }
  if (order.say) {
    const inReply = order.answers ? { 'm.in_reply_to': { event_id: order.answers } } : {}
    const inThread = order.thread ? { rel_type: 'm.thread', event_id: order.thread, is_falling_back: true } : {}
    const hangs = { ...inReply, ...inThread }
    const relation = Object.keys(hangs).length > 0 ? { 'm.relates_to': hangs } : {}
    const sent = await client.sendMessage(order.room, { msgtype: 'm.text', body: order.say, ...relation })
    tell({ said: sent.event_id })
  }
  if (order.leave) {
    const { room_id } = await client.createRoom({
      preset: 'trusted_private_chat',
      is_direct: true,
      invite: [order.leave],
      initial_state: [{ type: 'm.room.encryption', state_key: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } }],
    })
    while (client.getRoom(room_id)?.getMember(order.leave)?.membership !== 'invite') await Bun.sleep(50)
    for (const body of order.words) await client.sendMessage(room_id, { msgtype: 'm.text', body })
    tell({ left: room_id })
  }
  if (order.edit) {
    const content = { msgtype: 'm.text', body: order.to }
    const relation = { rel_type: 'm.replace', event_id: order.edit }
    await client.sendMessage(order.room, {
      ...content,
      body: `* ${order.to}`,
      'm.new_content': content,
      'm.relates_to': relation,
    })
  }
  if (order.react) {
    const relation = { rel_type: 'm.annotation', event_id: order.react, key: order.key }
    await client.sendEvent(order.room, 'm.reaction', { 'm.relates_to': relation })
  }
  if (order.redact) await client.redactEvent(order.room, order.redact)
  if (order.types !== undefined) await client.sendTyping(order.room, order.types, 20_000)
  if (order.read) await client.sendReadReceipt(client.getRoom(order.room).findEventById(order.read))
  if (order.knock) tell({ joined: (await client.joinRoom(order.knock)).roomId })
  if (order.accept) await request.accept()
  if (order.ask) compare(await crypto.requestDeviceVerification(order.ask, order.device))
  if (order.askIn) compare(await crypto.requestVerificationDM(order.user, order.askIn))
  if (order.start) await request.startVerification('m.sas.v1').catch(() => {})
  if (order.same === true) await pictures.confirm()
  if (order.same === false) pictures.mismatch()
  if (order.trust) {
    const device = await crypto.getDeviceVerificationStatus(order.trust, order.device)
    const user = await crypto.getUserVerificationStatus(order.trust)
    tell({ trusts: device?.localVerified === true, user: user.isCrossSigningVerified() })
  }
}
process.exit(0)

export {}
