// A tree of AIPass branches as they are found: a thousand messages in every shape there was, some of them broken, and what a
// true import makes of them.
import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type Expected = {
  /** By body, which no two letters share. */
  letters: Map<
    string,
    {
      from: string
      subject: string
      created: number
      copies: Record<string, 'new' | 'opened' | 'closed'>
      replyTo: string | null
    }
  >
  /** Path below the tree (with the number of the message) → beginning of the reason. */
  problems: Map<string, string>
  changed: number
  repeated: number
  accounts: string[]
}

const BRANCHES = ['devpulse', 'drone', 'ai_mail', 'memory', 'trigger', 'spawn', 'seedgo', 'prax', 'cli', 'flow']
const ODD = [
  'line one\nline two\n\n  three\n',
  '--dispatch --from @x -- -n',
  '@all @drone "Subject"',
  'a\r\nb\rc\r\n',
  '👩‍👩‍👧‍👦 🇩🇪 e\u0301 \u202e \u001b[31m',
  `${'ü'.repeat(32_700)} 64 KiB`,
]
const TOTAL = 1_000

/** `YYYY-MM-DD HH:MM:SS` of the local clock, as it was written there. */
function stamp(ms: number): string {
  const time = new Date(ms)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`
}

type Old = Record<string, unknown>

/** Writes below `root`; the same each time. */
export function makeAipassTree(root: string): Expected {
  const expected: Expected = { letters: new Map(), problems: new Map(), changed: 0, repeated: 0, accounts: [] }
  const inboxes = new Map<string, Old[]>(BRANCHES.map((name) => [name, []]))
  const mailbox = (name: string) => join('src/aipass', name, '.ai_mail.local')
  const put = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const json = (path: string, value: unknown) => put(path, JSON.stringify(value, null, 2))
  const start = Date.UTC(2026, 3, 1, 8)
  let serial = 0
  const id = () => (0x10000000 + serial++ * 7919).toString(16).slice(-8)
  let sentFiles = 0
  const putSent = (owner: string, record: Old) =>
    json(join(mailbox(owner), 'sent', `20260401_${String(sentFiles++).padStart(6, '0')}_subject.json`), record)
  const deleted = (owner: string, record: Old, at: number) =>
    json(join(mailbox(owner), 'deleted', `${String(at).padStart(4, '0')}.json`), record)

  let last: { body: string; owner: string; id: string } | null = null
  for (let index = 0; index < TOTAL; index++) {
    const from = BRANCHES[index % BRANCHES.length]!
    const to = BRANCHES[(index * 3 + 1) % BRANCHES.length]!
    const created = start + index * 61_000
    const body = index < ODD.length ? ODD[index]! : `message ${index}\nfrom ${from}\n`
    const subject = `subject ${index}`
    const ownId = id()
    const sentId = index % 5 === 0 ? null : id()
    const record: Old = {
      id: ownId,
      timestamp: stamp(created),
      from: `@${from}`,
      from_name: from.toUpperCase(),
      subject,
      message: body,
      auto_execute: false,
      priority: 'normal',
    }
    if (sentId) record.sent_id = sentId
    const kind = index % 10
    let state: 'new' | 'opened' | 'closed'
    let replyTo: string | null = null
    if (kind < 4) {
      state = 'new'
      inboxes.get(to)!.unshift({ ...record, status: 'new' })
    } else if (kind < 6) {
      state = 'opened'
      // the lane between projects stored no status
      inboxes.get(to)!.unshift(kind === 4 ? { ...record, status: 'opened' } : { ...record, read: true })
    } else if (kind < 9) {
      state = 'closed'
      // closing all at once left the status as it was
      deleted(
        to,
        { ...record, status: kind === 6 ? 'closed' : 'new', archived_at: new Date(created + 5_000).toISOString() },
        index,
      )
    } else {
      // only its sender has it any more
      state = 'closed'
      delete record.sent_id
      putSent(from, {
        id: ownId,
        from: `@${from}`,
        to: `@${to}`,
        subject,
        message: body,
        timestamp: stamp(created),
        status: 'sent',
      })
    }
    if (kind < 9 && sentId) {
      const answers: { body: string; owner: string; id: string } | null = last && last.owner === from ? last : null
      if (answers) replyTo = answers.body
      putSent(from, {
        id: sentId,
        from: `@${from}`,
        to: `@${to}`,
        subject,
        message: body,
        timestamp: stamp(created),
        ...(answers ? { in_reply_to: answers.id } : { status: 'sent' }),
      })
      last = { body, owner: to, id: ownId }
    }
    expected.letters.set(body, {
      from,
      subject,
      created: Math.floor(created / 1_000) * 1_000,
      copies: { [to]: state },
      replyTo,
    })
  }

  const time = start - 86_400_000
  const plain = (more: Old): Old => ({
    id: id(),
    timestamp: stamp(time),
    from: '@drone',
    subject: 's',
    status: 'new',
    ...more,
  })
  const good = (
    body: string,
    state: 'new' | 'opened' | 'closed',
    more: Partial<{
      from: string
      subject: string
      created: number
      copies: Record<string, 'new' | 'opened' | 'closed'>
    }> = {},
  ) =>
    expected.letters.set(body, {
      from: 'drone',
      subject: 's',
      created: time,
      copies: { memory: state },
      replyTo: null,
      ...more,
    })
  const into = inboxes.get('memory')!

  // one message to all: one record of its sender, a copy with each
  for (const name of BRANCHES.slice(2, 8))
    inboxes.get(name)!.push(plain({ sent_id: 'feedbeef', message: 'to all', from: '@devpulse' }))
  putSent('devpulse', {
    id: 'feedbeef',
    from: '@devpulse',
    to: '@all',
    subject: 's',
    message: 'to all',
    timestamp: stamp(time),
    status: 'sent',
  })
  good('to all', 'new', {
    from: 'devpulse',
    copies: Object.fromEntries(BRANCHES.slice(2, 8).map((name) => [name, 'new' as const])),
  })
  // one id twice: nobody looked
  for (const body of ['first of two', 'second of two']) {
    into.push(plain({ id: 'deadbeef', message: body }))
    good(body, 'new')
  }
  // the same message in the inbox and among the deleted, after a crash between the two writes
  const twice = plain({ message: 'twice' })
  into.push(twice)
  deleted('memory', { ...twice, archived_at: '2026-04-02T10:00:00' }, 5_000)
  good('twice', 'closed')
  expected.repeated++
  // refused mail was never delivered
  putSent('drone', {
    id: id(),
    from: '@drone',
    to: '@nobody',
    subject: 's',
    message: 'refused',
    timestamp: stamp(time),
    status: 'refused',
    refused_reason: 'unknown',
  })
  good('refused', 'new', { copies: {} })
  // the router made paths of addresses
  into.push(plain({ message: 'by path', from: '/home/somebody/src/aipass/SPAWN/' }))
  good('by path', 'new', { from: 'spawn' })
  // times in other forms
  const zones: [string, unknown][] = [
    ['iso', new Date(time).toISOString()],
    ['offset', `${new Date(time + 2 * 3_600_000).toISOString().slice(0, 19)}+02:00`],
    ['seconds', time / 1_000],
    ['milliseconds', String(time)],
    ['slashes', stamp(time).replaceAll('-', '/')],
    ['fraction', `${new Date(time).toISOString().slice(0, 19)}.123456Z`],
  ]
  for (const [name, timestamp] of zones) {
    into.push(plain({ message: `time ${name}`, timestamp }))
    good(`time ${name}`, 'new', { created: name === 'fraction' ? time + 123 : time })
  }
  // changed on the way in, and told so
  into.push(plain({ message: 'no time', timestamp: '2026-02-31 10:00:00', last_updated: stamp(time) }))
  good('no time', 'new')
  into.push(plain({ message: 'strange status', status: 'archived?' }))
  good('strange status', 'new')
  into.push(plain({ message: 'long subject', subject: `two\nlines ${'x'.repeat(600)}` }))
  good('long subject', 'new', { subject: `two lines ${'x'.repeat(502)}` })
  expected.changed += 3

  // not to be read
  const problem = (path: string, reason: string) => void expected.problems.set(path, reason)
  const broken: [Old | string | null, string][] = [
    [plain({}), 'has no text'],
    [plain({ message: { text: 'x' } }), 'has no text'],
    [plain({ message: 'no sender', from: '' }), 'names no sender'],
    [plain({ message: 'x'.repeat(65_537) }), 'its text is 65537 bytes long'],
    ['a line', 'is no message'],
    [null, 'is no message'],
    [plain({ message: 'nul \0' }), 'body: has a NUL character'],
  ]
  const spoilt = [...broken.map(([value]) => value)]
  inboxes.set('flow', [...inboxes.get('flow')!, ...(spoilt as Old[])])
  for (const [at, [, reason]] of broken.entries())
    problem(`${mailbox('flow')}/inbox.json message ${inboxes.get('flow')!.length - broken.length + at + 1}`, reason)
  const spoil = (name: string, content: string | Uint8Array, reason: string) => {
    put(join(mailbox('prax'), 'deleted', name), content)
    problem(join(mailbox('prax'), 'deleted', name), reason)
  }
  for (let index = 0; index < 10; index++) spoil(`cut-${index}.json`, '{"id": "1", "message": "cut o', 'is no JSON')
  for (let index = 0; index < 5; index++) spoil(`empty-${index}.json`, '', 'is empty')
  for (let index = 0; index < 5; index++)
    spoil(`latin-${index}.json`, Buffer.from('{"message":"\xe4"}', 'latin1'), 'is no UTF-8')
  spoil('number.json', '7', 'holds no messages')
  spoil('huge.json', '', 'is 70000000 bytes long')
  truncateSync(join(root, mailbox('prax'), 'deleted', 'huge.json'), 70_000_000)
  put('lost/.ai_mail.local/inbox.json', '{"mailbox": "inbox", "messages": [{"id": "1", "message": "half')
  problem('lost/.ai_mail.local/inbox.json', 'is no JSON')

  // an inbox of each shape
  for (const [name, messages] of inboxes) {
    const path = join(mailbox(name), 'inbox.json')
    if (name === 'cli') json(path, messages)
    else if (name === 'spawn') json(path, { inbox: messages })
    else json(path, { mailbox: 'inbox', total_messages: messages.length, unread_count: 3, messages })
  }
  // before version 2 the deleted ones lay in one file
  json(join(mailbox('trigger'), 'deleted.json'), [plain({ message: 'old deleted', status: 'opened' })])
  good('old deleted', 'closed', { copies: { trigger: 'closed' } })
  json(join(mailbox('trigger'), '.archive', 'deleted.json.migrated_20260301'), {
    messages: [plain({ message: 'older deleted' })],
  })
  good('older deleted', 'closed', { copies: { trigger: 'closed' } })

  json('AIPASS_REGISTRY.json', {
    branches: BRANCHES.map((name) => ({ name: name.toUpperCase(), path: join('src/aipass', name), email: `@${name}` })),
  })
  json(join(mailbox('ai_mail'), 'contacts.json'), {
    contacts: {
      outsider: { project: 'Other', inbox: '/home/somebody/other/.ai_mail.local/inbox.json', last_seen: stamp(time) },
      drone: { project: 'AIPass' },
    },
  })
  put(join(mailbox('ai_mail'), '.inbox.lock'), '')
  json(join(mailbox('ai_mail'), 'session.json'), { session_id: 'x' })

  // links that lead round and out, and copies that are no branches
  symlinkSync('..', join(root, 'src/aipass/round'))
  mkdirSync(join(root, 'linked'))
  symlinkSync(join(root, mailbox('drone')), join(root, 'linked/.ai_mail.local'))
  problem('linked/.ai_mail.local', 'is a symbolic link')
  linkSync(join(root, mailbox('drone'), 'inbox.json'), join(root, 'inbox-of-nobody.json'))
  json('backups/drone/.ai_mail.local/inbox.json', [plain({ message: 'a copy' })])
  json('node_modules/x/.ai_mail.local/inbox.json', [plain({ message: 'no branch' })])

  expected.accounts = [...BRANCHES, 'outsider'].sort()
  return expected
}
