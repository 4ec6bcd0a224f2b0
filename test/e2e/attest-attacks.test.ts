// Peers that hide, pass their connection on, change their user or fork in odd ways; daemons of root and of nobody.
import { afterEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Verdict } from '../../src/attest/attestor.ts'

/** The system's own first: one in a home folder cannot be run by another user. */
const python = Bun.which('python3', { PATH: `/usr/bin:/usr/local/bin:${process.env.PATH}` })
const isRoot = process.getuid?.() === 0 && Bun.which('setpriv') !== null
const NOBODY = 65534
const STRANGER = 65533
const as = (uid: number | null) =>
  uid === null ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--inh-caps=-all']

const running: Bun.Subprocess[] = []
afterEach(async () => {
  for (const child of running.splice(0).reverse()) {
    child.kill('SIGKILL')
    await child.exited
  }
})

/** Another build as the daemon's runtime, with the libraries that it needs here: musl.test.ts. Another script: darwin.test.ts. */
const { M4A_TEST_DAEMON: otherBuild, M4A_TEST_LIBRARIES: libraries, M4A_TEST_SCRIPT: otherScript } = process.env

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

async function startDaemon(uid: number | null) {
  const runtime = otherBuild ?? process.execPath
  const env = libraries ? { BUN_BE_BUN: '1', LD_LIBRARY_PATH: libraries } : {}
  // the libraries are for the daemon alone: what starts it is a program of this system
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const script = otherScript ?? join(import.meta.dir, 'support/attest-daemon.ts')
  const daemon = start([...as(uid), 'env', ...set, runtime, script])
  const { ports, selfTest } = JSON.parse(await daemon.line())
  expect(selfTest).toEqual({ ok: true })
  return { ports: ports as number[], verdict: async (): Promise<Verdict> => JSON.parse(await daemon.line()) }
}

async function startPeer(uid: number | null, port: number | undefined, host = '127.0.0.1') {
  const script = join(import.meta.dir, 'support/attest-peer.py')
  const peer = start([...as(uid), python ?? '', script, host, String(port)])
  const pid = Number((await peer.line()).split(' ')[1])
  return {
    pid,
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
    await peer.do('connect send queue')
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
    // the macOS one looks at one descriptor, and then for the holder anew
    expect(await daemon.verdict()).toMatchObject({ ...own, via: otherScript ? 'table' : 'warm' })
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
