# A peer for test/e2e/attest-attacks.test.ts: does to its connection what a line on stdin says, and answers "done".
# Usage: attest-peer.py HOST PORT
import ctypes, os, signal, socket, struct, sys

connection = child = None
keep = []


def connect():
    global connection
    if sys.argv[2].isdigit():
        connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
    else:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(sys.argv[2])


def send():
    connection.sendall(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n")


def half():  # a request whose end is also the end of what we say
    send()
    connection.shutdown(socket.SHUT_WR)


def fork():  # a child that keeps the connection
    global child
    child = os.fork()
    if child == 0:
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
    answer = None
    for word in line.split():
        answer = globals()[word]()
    print("done", answer or "", flush=True)
