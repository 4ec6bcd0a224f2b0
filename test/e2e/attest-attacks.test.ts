// Peers that hide, pass their connection on, change their user or fork in odd ways; daemons of root and of nobody.
import { afterEach, describe, expect, test } from 'bun:test'
import { readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Verdict } from '../../src/attest/attestor.ts'

/** The system's own first: one in a home folder cannot be run by another user. */
const python = Bun.which('python3', { PATH: `/usr/bin:/usr/local/bin:${process.env.PATH}` })
const isRoot = process.getuid?.() === 0 && Bun.which('setpriv') !== null
const NOBODY = 65534
const STRANGER = 65533
/** A source port below those that the kernel gives out: ip(7), ip_local_port_range. */
const PORT = 21_500 + (process.pid % 5_000)
const as = (uid: number | null) =>
  uid === null ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--inh-caps=-all']

const running: Bun.Subprocess[] = []
afterEach(async () => {
  for (const child of running.splice(0).reverse()) {
    child.kill('SIGKILL')
    await child.exited
  }
})

/** Another build as the daemon's runtime, with the libraries that it needs here: musl.test.ts. Another script: the macOS decisions, by hand. */
const { M4A_TEST_DAEMON: otherBuild, M4A_TEST_LIBRARIES: libraries, M4A_TEST_SCRIPT: otherScript } = process.env

/** The way of the Linux one to a verdict; others go other ways to the same. */
const by = (via: 'scan' | 'warm') => (otherScript ? {} : { via })

/** A child process that talks in lines. */
function start(command: string[]) {
  const child = Bun.spawn(command, { stdio: ['pipe', 'pipe', 'inherit'], cwd: '/' })
  running.push(child)
  const reader = child.stdout.getReader()
  let text = ''
  return {
    pid: child.pid,
    async line() {
      while (!text.includes('\n')) {
        const { done, value } = await reader.read()
        if (done) throw new Error(`${command.join(' ')} has ended`)
        text += new TextDecoder().decode(value)
      }
      const [first = ''] = text.split('\n', 1)
      text = text.slice(first.length + 1)
      return first
    },
    write(line: string) {
      child.stdin.write(`${line}\n`)
      child.stdin.flush()
    },
  }
}

async function startDaemon(uid: number | null, wrap: string[] = []) {
  const runtime = otherBuild ?? process.execPath
  const env = libraries ? { BUN_BE_BUN: '1', LD_LIBRARY_PATH: libraries } : {}
  // the libraries are for the daemon alone: what starts it is a program of this system
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const script = otherScript ?? join(import.meta.dir, 'support/attest-daemon.ts')
  const daemon = start([...wrap, ...as(uid), 'env', ...set, runtime, script])
  const { ports, selfTest } = JSON.parse(await daemon.line())
  expect(selfTest).toEqual({ ok: true })
  return {
    pid: daemon.pid,
    ports: ports as number[],
    verdict: async (): Promise<Verdict> => JSON.parse(await daemon.line()),
  }
}

async function startPeer(uid: number | null, port: number | undefined, host = '127.0.0.1', wrap: string[] = []) {
  const script = join(import.meta.dir, 'support/attest-peer.py')
  const peer = start([...wrap, ...as(uid), python ?? '', script, host, String(port)])
  const pid = Number((await peer.line()).split(' ')[1])
  return {
    pid,
    /** the process that was started, which is another one where `wrap` forks */
    started: peer.pid,
    tell: peer.write,
    /** words of attest-peer.py, in order */
    async do(words: string) {
      peer.write(words)
      return (await peer.line()).slice('done '.length)
    },
  }
}

/** The attacks that a daemon must answer the same, whoever it runs as. */
function sameUser(uid: number | null) {
  async function pair() {
    const daemon = await startDaemon(uid)
    return { daemon, peer: await startPeer(uid, daemon.ports[0]) }
  }

  test('forked, left, forked again', async () => {
    const { daemon, peer } = await pair()
    const own = { ok: true, process: { pid: peer.pid } }
    const shared = { ok: false, kind: 'shared_connection' }
    await peer.do('connect send')
    expect(await daemon.verdict()).toMatchObject(own)
    await peer.do('fork send')
    expect(await daemon.verdict()).toMatchObject(shared)
    await peer.do('leave send')
    expect(await daemon.verdict()).toMatchObject(own)
    await peer.do('connect fork send')
    expect(await daemon.verdict()).toMatchObject(shared)
    await peer.do('leave send')
    expect(await daemon.verdict()).toMatchObject(own)
  })

  test('a grandchild that has lost its parent is found by the search', async () => {
    const { daemon, peer } = await pair()
    await peer.do('connect orphan send')
    expect(await daemon.verdict()).toMatchObject({ ok: false, kind: 'shared_connection' })
  })

  test('in a queue nobody has the connection, and who takes it out is named', async () => {
    const { daemon, peer } = await pair()
    // it must not look before the connection travels
    process.kill(daemon.pid, 'SIGSTOP')
    await peer.do('connect send queue')
    process.kill(daemon.pid, 'SIGCONT')
    const verdict = await daemon.verdict()
    // where a process of our user is hidden from us, it may be the holder
    if (verdict.ok || verdict.kind !== 'unreadable') expect(verdict).toMatchObject({ ok: false, kind: 'no_holder' })
    else expect(String(verdict.seen.pids).split(',')).not.toContain(String(peer.pid))
    await peer.do('fetch send')
    expect(await daemon.verdict()).toMatchObject({ ok: true, process: { pid: peer.pid } })
  })

  test('a descriptor copied or moved within one process is no sharing', async () => {
    const { daemon, peer } = await pair()
    const own = { ok: true, process: { pid: peer.pid } }
    await peer.do('connect send')
    expect(await daemon.verdict()).toMatchObject(own)
    await peer.do('move send')
    expect(await daemon.verdict()).toMatchObject({ ...own, ...by('warm') })
    await peer.do('connect dup send')
    expect(await daemon.verdict()).toMatchObject(own)
  })

  test('closed for writing only is still attested, or gone, never another', async () => {
    const { daemon, peer } = await pair()
    await peer.do('connect half')
    const verdict = await daemon.verdict()
    if (verdict.ok) expect(verdict.process.pid).toBe(peer.pid)
    else expect(verdict.kind).toBe('peer_gone')
  })

  test('one that no list of children has gets the connection: shared, and its own once the giver has none', async () => {
    const { daemon, peer } = await pair()
    await peer.do('receiver connect give receiver_sends')
    expect(await daemon.verdict()).toMatchObject({ ok: false, kind: 'shared_connection' })
    await peer.do('forget receiver_sends')
    const verdict = await daemon.verdict()
    expect(verdict.ok && verdict.process.pid !== peer.pid && verdict.process.argv[1]).toEndWith('attest-peer.py')
  })

  test('given away after the proof it is never the giver again', async () => {
    const { daemon, peer } = await pair()
    await peer.do('receiver connect send')
    expect(await daemon.verdict()).toMatchObject({ ok: true, process: { pid: peer.pid } })
    await peer.do('give forget receiver_sends')
    const verdict = await daemon.verdict()
    expect(verdict.ok && verdict.process.pid !== peer.pid && verdict.process.argv[1]).toEndWith('attest-peer.py')
  })

  test('an exec is the same process with another program', async () => {
    const { daemon, peer } = await pair()
    await peer.do('connect send')
    const first = await daemon.verdict()
    await peer.do('execute')
    await peer.do('send')
    const second = await daemon.verdict()
    if (!first.ok || !second.ok) throw new Error(JSON.stringify([first, second]))
    const { pid, start: begun, pidfd } = first.process
    expect(second).toMatchObject({ connection: first.connection, process: { pid, start: begun, pidfd } })
    expect([first.process.argv.length, second.process.argv.length]).toEqual([4, 5])
    expect(second.process.execMark).not.toBe(first.process.execMark)
  })

  test('who asks and ends at once is named itself or not at all', async () => {
    const daemon = await startDaemon(uid)
    for (let i = 0; i < 5; i++) {
      const peer = await startPeer(uid, daemon.ports[0])
      await peer.do('connect')
      peer.tell('vanish')
      const verdict = await daemon.verdict()
      if (verdict.ok) expect(verdict.process.pid).toBe(peer.pid)
      else expect(['peer_gone', 'no_holder']).toContain(verdict.kind)
    }
  })

  test('a port that goes to and fro by resets is whose it is', async () => {
    const { daemon, peer } = await pair()
    const other = await startPeer(uid, daemon.ports[0])
    const names = new Set<string>()
    for (let i = 0; i < 20; i++) {
      const now = i % 2 ? other : peer
      await now.do(`connect=127.0.0.1:${PORT} send`)
      // twice: by the search, and by the proof that is kept of our own end
      const verdict = await daemon.verdict()
      expect(verdict).toMatchObject({ ok: true, process: { pid: now.pid }, ...by('scan') })
      await now.do('send')
      expect(await daemon.verdict()).toMatchObject({ ok: true, process: { pid: now.pid }, ...by('warm') })
      if (verdict.ok) names.add(verdict.connection)
      await now.do('reset')
    }
    expect(names.size).toBe(20)
  })

  test('one port from two addresses, and to two doors, is of two processes', async () => {
    const { daemon, peer } = await pair()
    await peer.do(`connect=127.0.0.1:${PORT} send`)
    expect(await daemon.verdict()).toMatchObject({ ok: true, process: { pid: peer.pid } })
    const address = await startPeer(uid, daemon.ports[0])
    await address.do(`connect=127.0.0.2:${PORT}`)
    const door = await startPeer(uid, daemon.ports[2])
    await door.do(`connect=127.0.0.1:${PORT}`)
    for (const now of [address, peer, door, address, door, peer]) {
      await now.do('send')
      expect(await daemon.verdict()).toMatchObject({ ok: true, process: { pid: now.pid } })
    }
  })

  test('behind a forwarder it is the forwarder that has the connection', async () => {
    const daemon = await startDaemon(uid)
    const program = join(import.meta.dir, 'support/forwarder.ts')
    const forwarder = start([...as(uid), process.execPath, program, String(daemon.ports[0])])
    const peer = await startPeer(uid, JSON.parse(await forwarder.line()).port)
    await peer.do('connect send')
    expect(await daemon.verdict()).toMatchObject({ ok: true, process: { pid: forwarder.pid } })
  })

  test('over IPv4 as IPv6 spells it', async () => {
    const daemon = await startDaemon(uid)
    const peer = await startPeer(uid, daemon.ports[0], '::ffff:127.0.0.1')
    await peer.do('connect send')
    expect(await daemon.verdict()).toMatchObject({ ok: true, process: { pid: peer.pid } })
  })

  test('over ::1 as over 127.0.0.1', async () => {
    const daemon = await startDaemon(uid)
    const peer = await startPeer(uid, daemon.ports[1], '::1')
    await peer.do('connect send')
    expect(await daemon.verdict()).toMatchObject({ ok: true, process: { pid: peer.pid, argv: { length: 4 } } })
  })
}

describe.if(process.platform === 'linux' && python !== null)('as the user of the test', () => sameUser(null))

describe.if(process.platform === 'linux' && python !== null && isRoot)('a daemon of nobody', () => {
  sameUser(NOBODY)

  test('a process that its own user may not look at is unreadable, before the proof and after', async () => {
    const daemon = await startDaemon(NOBODY)
    const peer = await startPeer(NOBODY, daemon.ports[0])
    await peer.do('connect send')
    expect(await daemon.verdict()).toMatchObject({ ok: true, process: { pid: peer.pid, uid: NOBODY } })
    await peer.do('hide send')
    expect(await daemon.verdict()).toMatchObject({ ok: false, kind: 'unreadable', seen: { pids: String(peer.pid) } })
    await peer.do('connect send')
    expect(await daemon.verdict()).toMatchObject({ ok: false, kind: 'unreadable', seen: { pids: String(peer.pid) } })
  })

  test('a peer of root and one of a stranger are other_user', async () => {
    const daemon = await startDaemon(NOBODY)
    for (const [uid, seen] of [
      [null, 0],
      [STRANGER, STRANGER],
    ] as const) {
      const peer = await startPeer(uid, daemon.ports[0])
      await peer.do('connect send')
      const refused = { ok: false, kind: 'other_user', seen: { uid: seen, ours: NOBODY } }
      expect(await daemon.verdict()).toMatchObject(refused)
    }
  })
})

describe.if(process.platform === 'linux' && python !== null && isRoot)('a daemon of root', () => {
  test('a peer of another user is other_user, also one that was root when it connected', async () => {
    const daemon = await startDaemon(null)
    const stranger = await startPeer(STRANGER, daemon.ports[0])
    await stranger.do('connect send')
    expect(await daemon.verdict()).toMatchObject({ ok: false, kind: 'other_user', seen: { uid: STRANGER, ours: 0 } })
    const other = { ok: false, kind: 'other_user', seen: { uid: NOBODY, ours: 0 } }
    const before = await startPeer(null, daemon.ports[0])
    await before.do('connect drop send')
    expect(await daemon.verdict()).toMatchObject(other)
    const after = await startPeer(null, daemon.ports[0])
    await after.do('connect send')
    expect(await daemon.verdict()).toMatchObject({ ok: true, process: { pid: after.pid, uid: 0 } })
    await after.do('drop send')
    expect(await daemon.verdict()).toMatchObject(other)
  })
})

const canIsolate =
  isRoot &&
  Bun.which('nsenter') !== null &&
  Bun.which('ip') !== null &&
  Bun.spawnSync(['unshare', '--mount', '--net', '--pid', '--fork', 'true']).success

/** A /proc of its own, which a remount would not be: its options are those of all who have the same one. */
const HIDING = ['unshare', '--mount', 'sh', '-c', 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', 'sh']
const OWN_PIDS = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']
const OWN_NETWORK = ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']

/** The one child of a process: what `unshare --fork` and `nsenter --pid` start. */
const childOf = (pid: number) => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))

describe.if(process.platform === 'linux' && python !== null && canIsolate && !otherScript)('behind walls', () => {
  test('where /proc hides the others, our own user is named and the others are refused', async () => {
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    const daemon = await startDaemon(NOBODY, HIDING)
    expect(readFileSync(`/proc/${daemon.pid}/mountinfo`, 'utf8')).toContain('hidepid=')
    const peer = await startPeer(NOBODY, daemon.ports[0])
    await peer.do('connect send')
    expect(await daemon.verdict()).toMatchObject({ ok: true, process: { pid: peer.pid } })
    await peer.do('fork send')
    expect(await daemon.verdict()).toMatchObject({ ok: false, kind: 'shared_connection' })
    await peer.do('leave connect send')
    expect(await daemon.verdict()).toMatchObject({ ok: true, process: { pid: peer.pid } })
    await peer.do('hide send')
    expect(await daemon.verdict()).toMatchObject({ ok: false, kind: 'no_holder' })
    const stranger = await startPeer(STRANGER, daemon.ports[0])
    await stranger.do('connect send')
    expect(await daemon.verdict()).toMatchObject({ ok: false, kind: 'other_user', seen: { uid: STRANGER } })
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).toBe(mounts)
  })

  test('a peer in a pid namespace of its own is named as we see it', async () => {
    const daemon = await startDaemon(null)
    const peer = await startPeer(null, daemon.ports[0], '127.0.0.1', OWN_PIDS)
    const pid = childOf(peer.started)
    await peer.do('connect send')
    const verdict = await daemon.verdict()
    expect(peer.pid).toBe(1)
    expect(verdict).toMatchObject({ ok: true, process: { pid } })
    expect(verdict.ok && verdict.process.pidns).toBe(readlinkSync(`/proc/${pid}/ns/pid`))
    expect(verdict.ok && verdict.process.pidns).not.toBe(readlinkSync('/proc/self/ns/pid'))
  })

  test('from within a pid namespace, one inside is named and one outside is no_holder', async () => {
    const daemon = await startDaemon(null, OWN_PIDS)
    const inside = ['nsenter', '--target', String(childOf(daemon.pid)), '--pid', '--mount']
    const peer = await startPeer(null, daemon.ports[0], '127.0.0.1', inside)
    await peer.do('connect send')
    expect(await daemon.verdict()).toMatchObject({ ok: true, process: { pid: peer.pid } })
    const outside = await startPeer(null, daemon.ports[0])
    await outside.do('connect send')
    expect(await daemon.verdict()).toMatchObject({ ok: false, kind: 'no_holder' })
  })

  test('another process with the pid of the proved one and its connection is another instance', async () => {
    const daemon = await startDaemon(null, OWN_PIDS)
    const enter = ['nsenter', '--target', String(childOf(daemon.pid)), '--pid', '--mount']
    const inside = [...enter, 'sh', '-c', '"$@"; sleep 60', 'sh']
    const peer = await startPeer(null, daemon.ports[0], '127.0.0.1', inside)
    await peer.do('connect send')
    const first = await daemon.verdict()
    expect(await peer.do('reborn')).toBe(String(peer.pid))
    await peer.do('send')
    const second = await daemon.verdict()
    if (!first.ok || !second.ok) throw new Error(JSON.stringify([first, second]))
    expect([first.process.pid, second.process.pid]).toEqual([peer.pid, peer.pid])
    const instance = ({ start, pidfd }: typeof first.process) => `${start} ${pidfd}`
    expect(instance(second.process)).not.toBe(instance(first.process))
    expect(second).toMatchObject({ via: 'scan', connection: first.connection })
  })

  test('in a network namespace as outside; one that leaves for another keeps its connection and its name', async () => {
    const daemon = await startDaemon(null, OWN_NETWORK)
    const inside = ['nsenter', '--target', String(daemon.pid), '--net']
    const peer = await startPeer(null, daemon.ports[0], '127.0.0.1', inside)
    await peer.do('connect send')
    expect(await daemon.verdict()).toMatchObject({ ok: true, process: { pid: peer.pid } })
    await peer.do('leave_network send')
    expect(await daemon.verdict()).toMatchObject({ ok: true, process: { pid: peer.pid } })
  })

  test('root sees also who hides', async () => {
    const daemon = await startDaemon(null)
    const peer = await startPeer(null, daemon.ports[0])
    await peer.do('hide connect send')
    expect(await daemon.verdict()).toMatchObject({ ok: true, process: { pid: peer.pid } })
  })
})
