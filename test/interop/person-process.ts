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
  const { msgtype, body, 'm.relates_to': relation } = event.getContent()
  const shield = await crypto.getEncryptionInfoForEvent(event)
  tell({
    room: event.getRoomId(),
    id: event.getId(),
    msgtype,
    body,
    answers: relation?.['m.in_reply_to']?.event_id,
    shield,
  })
})

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
    const relation = order.answers ? { 'm.relates_to': { 'm.in_reply_to': { event_id: order.answers } } } : {}
    const sent = await client.sendMessage(order.room, { msgtype: 'm.text', body: order.say, ...relation })
    tell({ said: sent.event_id })
  }
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
