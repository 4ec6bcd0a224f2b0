# A person at matrix-nio: Matrix in Python over libolm, which shares no code with our crypto library. Tells what it sees as JSON lines.
import asyncio
import json
import sys

from nio import AsyncClient, AsyncClientConfig, MegolmEvent, RoomMessageText

base, name, password, peer, store = sys.argv[1:6]


def tell(**what):
    print(json.dumps(what), flush=True)


async def main():
    config = AsyncClientConfig(store_sync_tokens=True, encryption_enabled=True)
    client = AsyncClient(base, name, store_path=store, config=config)
    await client.login(password)

    async def heard(room, event):
        tell(body=event.body, sender=event.sender, decrypted=event.decrypted)

    async def closed(room, event):
        tell(undecryptable=event.session_id, sender=event.sender)

    client.add_event_callback(heard, RoomMessageText)
    client.add_event_callback(closed, MegolmEvent)

    async def step():
        await client.sync(1000)
        if client.should_upload_keys:
            await client.keys_upload()
        if client.should_query_keys:
            await client.keys_query()
        if client.should_claim_keys:
            await client.keys_claim(client.get_users_for_key_claiming())
        await client.send_to_device_messages()

    await step()
    tell(user=client.user_id, key=client.olm.account.identity_keys["ed25519"])
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    encryption = {"type": "m.room.encryption", "state_key": "", "content": {"algorithm": "m.megolm.v1.aes-sha2"}}
    room_id = (await client.room_create(invite=[peer], initial_state=[encryption])).room_id
    while True:
        await step()
        room = client.rooms.get(room_id)
        if room and room.encrypted and peer in room.users and peer not in room.invited_users:
            break
    content = {"msgtype": "m.text", "body": "@codex hello from libolm"}
    await client.room_send(room_id, "m.room.message", content, ignore_unverified_devices=True)
    while True:
        await step()


asyncio.run(main())
