# A small service manager that follows the directives of a unit as systemd.service(5), systemd.exec(5) and systemd.kill(5) have
# them, with a systemctl and a journalctl for it: where no systemd runs, the mailbox is started, watched and stopped by this.
#   systemd.py manager        serves until SIGTERM; the user's folders are those of HOME and XDG_RUNTIME_DIR
#   systemd.py systemctl …    systemd.py journalctl …
import asyncio
import json
import os
import re
import resource
import shlex
import signal
import socket
import struct
import sys
import time

RUNTIME = os.environ["XDG_RUNTIME_DIR"]
HOME = os.environ["HOME"]
CONFIG = os.environ.get("XDG_CONFIG_HOME") or f"{HOME}/.config"
UNITS = f"{CONFIG}/systemd/user"
CONTROL = f"{RUNTIME}/systemd.control"

# What is followed here, and what changes nothing of a mailbox's life and needs a kernel's help to follow.
FOLLOWED = """Description After StartLimitIntervalSec StartLimitBurst WantedBy Type NotifyAccess ExecStart Environment Restart
RestartSec RestartPreventExitStatus TimeoutStartSec TimeoutStopSec WatchdogSec KillSignal KillMode LimitNOFILE UMask
StateDirectory StateDirectoryMode RuntimeDirectory RuntimeDirectoryMode""".split()
SANDBOX = """NoNewPrivileges LockPersonality RestrictNamespaces RestrictRealtime RestrictSUIDSGID KeyringMode RestrictAddressFamilies
SystemCallArchitectures SystemCallFilter SystemCallErrorNumber""".split()


def parse(text):
    found = {}
    for line in re.sub(r"\\\n", " ", text).split("\n"):
        line = line.strip()
        if not line or line[0] in "#;[":
            continue
        name, _, value = line.partition("=")
        if name not in FOLLOWED + SANDBOX:
            raise ValueError(f"{name}= is not known here")
        found.setdefault(name, []).append(value)
    return found


def seconds(value):
    return float(value)


class Unit:
    def __init__(self, name):
        self.name, self.path = name, f"{UNITS}/{name}"
        self.process = self.ready = self.watch = self.restarting = None
        self.active, self.sub, self.result, self.status, self.code = "inactive", "dead", "success", "", 0
        self.starts, self.restarts, self.log, self.stopping, self.pinged = [], 0, [], False, 0.0
        self.settled = asyncio.Event()

    def load(self):
        with open(self.path) as file:
            self.directives = parse(file.read())

    def one(self, name, default=""):
        return self.directives.get(name, [default])[-1]

    def specifiers(self, text):
        known = {"%%": "%", "%h": HOME, "%t": RUNTIME, "%S": f"{HOME}/.local/state"}
        return re.sub(r"%.", lambda m: known[m[0]], text)

    async def start(self):
        if self.active in ("active", "activating"):
            return self.active == "active"
        now, within = time.monotonic(), seconds(self.one("StartLimitIntervalSec", "10"))
        self.starts = [at for at in self.starts if now - at < within]
        if len(self.starts) >= int(self.one("StartLimitBurst", "5")):
            self.active, self.sub, self.result = "failed", "failed", "start-limit-hit"
            return False
        self.starts.append(now)
        self.active, self.sub, self.result, self.status, self.stopping = "activating", "start", "success", "", False
        self.ready = asyncio.get_running_loop().create_future()
        await self.spawn()
        try:
            await asyncio.wait_for(asyncio.shield(self.ready), seconds(self.one("TimeoutStartSec", "90")))
        except asyncio.TimeoutError:
            self.result = "timeout"
            self.process.kill()
            return False
        return self.ready.result()

    async def spawn(self):
        for kind, base in (("State", f"{HOME}/.local/state"), ("Runtime", RUNTIME)):
            for folder in self.one(f"{kind}Directory").split():
                os.makedirs(f"{base}/{folder}", int(self.one(f"{kind}DirectoryMode", "0755"), 8), exist_ok=True)
        loop = asyncio.get_running_loop()
        self.notify = f"{RUNTIME}/notify.{self.name}"
        if os.path.exists(self.notify):
            os.unlink(self.notify)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.socket.bind(self.notify)
        loop.add_reader(self.socket, self.heard)
        out, inner = os.pipe()
        stat = os.fstat(inner)
        env = {"HOME": HOME, "XDG_RUNTIME_DIR": RUNTIME, "PATH": "/usr/bin:/bin", "NOTIFY_SOCKET": self.notify,
               "INVOCATION_ID": os.urandom(16).hex(), "JOURNAL_STREAM": f"{stat.st_dev}:{stat.st_ino}"}
        for line in self.directives.get("Environment", []):
            env.update(word.split("=", 1) for word in shlex.split(self.specifiers(line)))
        watchdog = seconds(self.one("WatchdogSec", "0"))
        words = shlex.split(self.specifiers(self.one("ExecStart")).replace("$$", "$"))
        files, mask = int(self.one("LimitNOFILE", "1024")), int(self.one("UMask", "0022"), 8)

        def prepare():
            os.umask(mask)
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            most = files if hard == resource.RLIM_INFINITY else min(files, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

        if watchdog:
            env["WATCHDOG_USEC"] = str(int(watchdog * 1e6))
        self.process = await asyncio.create_subprocess_exec(
            *words, env=env, cwd=HOME, stdin=asyncio.subprocess.DEVNULL, stdout=inner, stderr=inner,
            preexec_fn=prepare, start_new_session=True)
        os.close(inner)
        self.pinged = time.monotonic()
        loop.create_task(self.keep_log(out))
        loop.create_task(self.wait())
        if watchdog:
            self.watch = loop.create_task(self.watchdog(watchdog))

    def heard(self):
        data, credentials, _, _ = self.socket.recvmsg(4096, 256)
        pid = struct.unpack("iii", credentials[0][2])[0]
        if self.one("NotifyAccess", "main") == "main" and pid != self.process.pid:
            self.log.append(f"<4>a message of {pid}, which is not the main process")
            return
        for line in data.decode().split("\n"):
            name, _, value = line.partition("=")
            if name == "READY":
                self.active, self.sub = "active", "running"
                self.ready.done() or self.ready.set_result(True)
            elif name == "STATUS":
                self.status = value
            elif name == "STOPPING":
                self.active, self.sub = "deactivating", "stop-sigterm"
            elif name == "WATCHDOG":
                self.pinged = time.monotonic()

    async def watchdog(self, limit):
        while True:
            await asyncio.sleep(0.05)
            if self.active == "active" and time.monotonic() - self.pinged > limit:
                self.result = "watchdog"
                self.process.send_signal(signal.SIGABRT)
                await asyncio.sleep(seconds(self.one("TimeoutStopSec", "90")))
                self.process.returncode is None and self.process.kill()
                return

    async def keep_log(self, fd):
        reader = asyncio.StreamReader()
        pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb"))
        async for line in reader:
            self.log.append(line.decode().rstrip("\n"))
        pipe.close()

    async def wait(self):
        code = await self.process.wait()
        while True:  # what it said before it ended
            try:
                self.heard()
            except BlockingIOError:
                break
        asyncio.get_running_loop().remove_reader(self.socket)
        self.socket.close()
        if self.watch:
            self.watch.cancel()
        self.code = code
        clean = code in (0, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP, -signal.SIGPIPE)
        if not clean and self.result == "success":
            self.result = "exit-code" if code > 0 else "signal"
        if clean and not self.stopping and self.ready and not self.ready.done():
            self.result = "protocol"
        failed = self.result != "success"
        self.active, self.sub = ("failed", "failed") if failed else ("inactive", "dead")
        prevented = str(code) in self.one("RestartPreventExitStatus").split()
        again = self.one("Restart", "no") == "on-failure" and failed and not prevented and not self.stopping
        self.ready.done() or self.ready.set_result(False)
        self.settled.set()
        if again:
            self.active, self.sub = "activating", "auto-restart"
            self.restarting = asyncio.get_running_loop().create_task(self.again())

    async def again(self):
        await asyncio.sleep(seconds(self.one("RestartSec", "0.1")))
        self.active = "inactive"
        said = self.status
        self.restarts += 1
        if not await self.start() and self.result == "start-limit-hit":
            self.status = said

    async def stop(self):
        self.stopping = True
        if self.restarting:
            self.restarting.cancel()
        if self.process is None or self.process.returncode is not None:
            self.active, self.sub = "inactive", "dead"
            return
        self.settled.clear()
        kill = getattr(signal, self.one("KillSignal", "SIGTERM"))
        group = self.one("KillMode", "control-group") == "control-group"
        (os.killpg if group else os.kill)(self.process.pid, kill)
        try:
            await asyncio.wait_for(self.settled.wait(), seconds(self.one("TimeoutStopSec", "90")))
        except asyncio.TimeoutError:
            self.result = "timeout"
            self.process.kill()
            await self.settled.wait()

    def properties(self):
        running = self.process is not None and self.process.returncode is None
        wants = f"{UNITS}/{self.one('WantedBy')}.wants/{self.name}" if hasattr(self, "directives") else ""
        return {"LoadState": "loaded" if os.path.exists(self.path) else "not-found", "ActiveState": self.active,
                "SubState": self.sub, "Result": self.result, "StatusText": self.status,
                "MainPID": self.process.pid if running else 0, "NRestarts": self.restarts,
                "UnitFileState": "enabled" if os.path.lexists(wants) else "disabled", "ExecMainStatus": self.code}


class Manager:
    def __init__(self):
        self.units = {}

    def unit(self, name):
        return self.units.setdefault(name, Unit(name))

    async def handle(self, words):
        program, *words = words
        words = [word for word in words if word != "--user"]
        if program == "journalctl":
            log = self.unit(words[words.index("-u") + 1]).log
            lines = log[-int(words[words.index("-n") + 1]):]
            return 0, "".join(re.sub(r"^<\d>", "", line) + "\n" for line in lines), ""
        verb, *rest = words
        if verb == "show-environment":
            return 0, f"HOME={HOME}\nXDG_RUNTIME_DIR={RUNTIME}\nPATH=/usr/bin:/bin\n", ""
        if verb == "daemon-reload":
            for unit in self.units.values():
                os.path.exists(unit.path) and unit.load()
            return 0, "", ""
        names = [word for word in rest if word.endswith(".service")]
        unit = self.unit(names[0])
        if verb == "is-active":
            return (0 if unit.active == "active" else 3), "", ""
        if verb == "show":
            return 0, "".join(f"{name}={value}\n" for name, value in unit.properties().items()), ""
        if not os.path.exists(unit.path):
            return 5, "", f"Unit {unit.name} not found.\n"
        if not hasattr(unit, "directives") or unit.active != "active":
            unit.load()
        wants = f"{UNITS}/{unit.one('WantedBy')}.wants"
        if verb == "enable":
            os.makedirs(wants, exist_ok=True)
            if not os.path.lexists(f"{wants}/{unit.name}"):
                os.symlink(unit.path, f"{wants}/{unit.name}")
        if verb == "disable" and os.path.lexists(f"{wants}/{unit.name}"):
            os.unlink(f"{wants}/{unit.name}")
            os.rmdir(wants)
        if verb == "reset-failed":
            unit.starts, unit.result, unit.restarts = [], "success", 0
            if unit.active == "failed":
                unit.active, unit.sub = "inactive", "dead"
        if verb in ("stop", "restart") or (verb == "disable" and "--now" in rest):
            await unit.stop()
        if verb in ("start", "restart") or (verb == "enable" and "--now" in rest):
            if not await unit.start():
                return 1, "", f"Job for {unit.name} failed because the control process exited with error code.\n"
        return 0, "", ""

    async def serve(self, reader, writer):
        try:
            words = json.loads(await reader.readline())
            answer = await self.handle(words)
        except Exception as error:
            answer = (1, "", f"{type(error).__name__}: {error}\n")
        writer.write(json.dumps(answer).encode() + b"\n")
        await writer.drain()
        writer.close()

    async def run(self):
        end = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end.set)
        server = await asyncio.start_unix_server(self.serve, CONTROL)
        print("ready", flush=True)
        await end.wait()
        server.close()
        for unit in self.units.values():
            await unit.stop()


if sys.argv[1] == "manager":
    asyncio.run(Manager().run())
else:
    control = socket.socket(socket.AF_UNIX)
    try:
        control.connect(CONTROL)
    except OSError:
        sys.exit("Failed to connect to bus: No medium found")
    control.sendall(json.dumps(sys.argv[1:]).encode() + b"\n")
    code, out, err = json.loads(control.makefile().readline())
    sys.stdout.write(out)
    sys.stderr.write(err)
    sys.exit(code)
