# A notification server on a session bus, by another implementation of D-Bus: prints each call as a line of JSON.
import json
import sys

from jeepney import HeaderFields, MessageType, new_error, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

capabilities = sys.argv[2].split(",")
connection = open_dbus_connection(bus=sys.argv[1])
connection.send_and_get_reply(message_bus.RequestName("org.freedesktop.Notifications"))
print(json.dumps({"ready": True}), flush=True)
count = 0
while True:
    message = connection.receive()
    if message.header.message_type != MessageType.method_call:
        continue
    member = message.header.fields[HeaderFields.member]
    if member == "GetCapabilities":
        connection.send(new_method_return(message, "as", (capabilities,)))
    elif member == "Notify" and "fails" in capabilities:
        connection.send(new_error(message, "org.example.Error.Full", "s", ("no room \x1b[31m on the desktop",)))
    elif member == "Notify":
        app, replaces, icon, summary, body, actions, hints, timeout = message.body
        if replaces == 0:
            count += 1
        said = {"app": app, "replaces": replaces, "icon": icon, "summary": summary, "body": body, "actions": actions}
        said["hints"] = {key: list(value) for key, value in hints.items()}
        said["timeout"] = timeout
        print(json.dumps(said), flush=True)
        connection.send(new_method_return(message, "u", (replaces or count,)))
