# A peer for test/e2e/attest-attacks.test.ts: does to its connection what a line on stdin says, and answers "done".
# Usage: attest-peer.py HOST PORT [DESCRIPTOR]; a word may have an argument: WORD=ARGUMENT
import ctypes, os, signal, socket, struct, sys, time

connection = child = beside = None
keep = []
REQUEST = os.environ.get("PEER_REQUEST", "GET / HTTP/1.1\r\nHost: test\r\n\r\n").encode()
if len(sys.argv) > 3:
    connection = socket.socket(fileno=int(sys.argv[3]))


def connect(source=None):  # from ADDRESS:PORT, which others may use too
    global connection
    if source:
        address, port = source.split(":")
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        connection.bind((address, int(port)))
        connection.connect((sys.argv[1], int(sys.argv[2])))
    elif sys.argv[2].isdigit():
        connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
    else:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(sys.argv[2])


def send():
    connection.sendall(REQUEST)


def answer():  # the body of what comes back
    connection.settimeout(20)
    text = connection.recv(65536)
    while b"\r\n\r\n" not in text or not text.endswith(b"}"):
        more = connection.recv(65536)
        if not more:
            break
        text += more
    return text.partition(b"\r\n\r\n")[2].decode()


def half():  # a request whose end is also the end of what we say
    send()
    connection.shutdown(socket.SHUT_WR)


def fork():  # a child that keeps the connection
    global child
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        signal.pause()


def leave():  # the child ends
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def pid():
    return child


def orphan():  # the connection is kept by a grandchild whose parent has ended
    middle = os.fork()
    if middle == 0:
        if os.fork() == 0:
            signal.alarm(20)
            signal.pause()
        os._exit(0)
    os.waitpid(middle, 0)


def hide():  # nobody of our own user may look at us: prctl(2), PR_SET_DUMPABLE
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)


def drop():  # become another user, with the connection
    os.setgid(65534)
    os.setuid(65534)


def queue():  # the only descriptor of the connection travels, and no process has it
    global connection
    pair = socket.socketpair()
    keep.extend(pair)
    pair[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", connection.fileno()))])
    os.close(connection.detach())


def fetch():  # and back again
    global connection
    _, ancillary, _, _ = keep[1].recvmsg(1, socket.CMSG_SPACE(4))
    connection = socket.socket(fileno=struct.unpack("i", ancillary[0][2])[0])


def receiver():  # a process beside us, which no list of our children has
    global beside
    beside, theirs = socket.socketpair()
    middle = os.fork()
    if middle == 0:
        if os.fork() == 0:
            signal.alarm(60)
            _, ancillary, _, _ = theirs.recvmsg(1, socket.CMSG_SPACE(4))
            given = socket.socket(fileno=struct.unpack("i", ancillary[0][2])[0])
            theirs.send(b"taken")
            while theirs.recv(1):
                given.sendall(REQUEST)
        os._exit(0)
    os.waitpid(middle, 0)


def give():  # the connection goes to the receiver, and stays with us too
    beside.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", connection.fileno()))])
    beside.recv(5)


def forget():  # our descriptor of it is closed; whoever else has one keeps the connection
    connection.close()


def receiver_sends():
    beside.send(b"s")


def execute():  # the same process, another program: exec(3)
    connection.set_inheritable(True)
    os.execv(sys.executable, [sys.executable, *sys.argv[:3], str(connection.fileno())])


def vanish():
    send()
    os._exit(0)


def reborn():  # we end, and a process with our pid has our connection: proc(5), ns_last_pid, in a pid namespace of our own
    ours = os.getpid()
    if os.fork():
        os._exit(0)
    while os.path.exists(f"/proc/{ours}"):
        time.sleep(0.005)
    for _ in range(50):
        with open("/proc/sys/kernel/ns_last_pid", "w") as last:
            last.write(str(ours - 1))
        child = os.fork()
        if child == 0:
            if os.getpid() == ours:
                return ours
            os._exit(0)
        if child == ours:
            os._exit(0)
        os.waitpid(child, 0)
    return "not reborn"


def leave_network():  # into a network of our own, with the connection: unshare(2), CLONE_NEWNET
    ctypes.CDLL(None).unshare(0x40000000)


def dup():  # several descriptors in one process are no sharing
    keep.append(connection.dup())


def move():  # another descriptor, the first one closed
    global connection
    moved = connection.dup()
    connection.close()
    connection = moved


def reset():
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


print("ready", os.getpid(), flush=True)
for line in sys.stdin:
    result = None
    for word in line.split():
        name, _, argument = word.partition("=")
        result = globals()[name](argument) if argument else globals()[name]()
    print("done", result or "", flush=True)
