// The release archive of this system in a root that has nothing: the C library, /proc and /dev/null, no shell, no /tmp. `up` works there.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { version } from '../../package.json'

const ROOT = join(import.meta.dir, '..', '..')
const NAME = `linux-${process.arch}`
const PROGRAM = `/opt/mail4agent-${version}-${NAME}/mail4agent`
const work = mkdtempSync(join(tmpdir(), 'm4a-root-'))
const root = join(work, 'root')

function must(command: string[]): string {
  const ran = Bun.spawnSync(command, { cwd: work, timeout: 120_000 })
  if (!ran.success) throw new Error(`${command.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.stdout.toString()
}

beforeAll(() => {
  must([process.execPath, 'run', join(ROOT, 'build.ts'), 'release', NAME])
  for (const folder of ['proc', 'dev', 'opt', 'home/pat']) mkdirSync(join(root, folder), { recursive: true })
  const archive = `mail4agent-${version}-${NAME}.tar.gz`
  must(['sh', '-c', `cd dist/release && grep ${archive} SHA256SUMS | sha256sum -c`])
  must(['tar', 'xzf', join('dist', 'release', archive), '-C', join(root, 'opt')])
  must(['mknod', '-m', '666', join(root, 'dev', 'null'), 'c', '1', '3'])
  // what the loader says it needs, and its own path: ldd(1)
  for (const library of must(['ldd', join(root, PROGRAM)]).match(/\/\S+/g) ?? []) {
    mkdirSync(join(root, dirname(library)), { recursive: true })
    copyFileSync(library, join(root, library))
  }
}, 120_000)
afterAll(() => rmSync(work, { recursive: true, force: true }))

test('up, a letter, down', () => {
  // in mount and pid namespaces of their own: nothing of it is seen outside, and nothing outlives it
  const script = `mount -t proc proc "$1/proc" || exit 9
m4a() { env -i HOME=/home/pat USER=pat "$(command -v chroot)" "$1" "$2" $3 2>&1; echo "= $?"; }
for words in 'up --yes --port 0' '--as pat send pat first letter' '--as pat inbox' 'status --as pat' 'down --yes'
do m4a "$1" "$2" "$words"; done`
  const namespaces = ['unshare', '--mount', '--pid', '--fork', '--propagation', 'private']
  const ran = Bun.spawnSync([...namespaces, 'sh', '-c', script, 'sh', root, PROGRAM], {
    env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
    timeout: 60_000,
  })
  const said = `${ran.stdout}${ran.stderr}`
  expect(said.match(/^= \d+$/gm)?.join(' ')).toBe('= 0 = 0 = 0 = 0 = 0')
  for (const words of [
    'the mailbox started in the background',
    'sent m4a_',
    'first',
    '1 not closed',
    'proved by the kernel',
    'the mailbox: stopped',
  ])
    expect(said).toContain(words)
  expect(readFileSync(join(root, 'home/pat/.local/share/mail4agent/tokens/pat'), 'utf8')).not.toBe('')
}, 90_000)
