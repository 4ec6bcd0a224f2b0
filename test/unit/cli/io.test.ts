// The real world around a command: the token leaves the environment, output survives a full pipe and a reader that leaves.
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const run = (code: string, env: Record<string, string> = {}) =>
  Bun.spawn(
    [
      process.execPath,
      '-e',
      `import { processIo } from ${JSON.stringify(join(import.meta.dir, '../../../src/cli/io.ts'))}\n${code}`,
    ],
    {
      env: { PATH: process.env.PATH ?? '', HOME: '/nowhere', ...env },
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )

test('M4A_TOKEN is out of the environment that children are given', async () => {
  const code = `import { spawnSync } from 'node:child_process'
    const io = processIo()
    io.out(io.token + spawnSync('/bin/sh', ['-c', 'echo .$M4A_TOKEN.'], { encoding: 'utf8' }).stdout)`
  expect(await new Response(run(code, { M4A_TOKEN: 'secret' }).stdout).text()).toBe('secret..\n')
})

test('all of a large output arrives, though the process leaves at once', async () => {
  const child = run(`processIo().out('x'.repeat(3_000_000)); process.exit(0)`)
  await Bun.sleep(100)
  expect((await new Response(child.stdout).text()).length).toBe(3_000_000)
})

test('the home is the one of the environment, and a pipe is no terminal', async () => {
  const child = run(
    `const { home, outColumns, errIsTerminal, program } = processIo(); console.log(JSON.stringify({ home, outColumns, errIsTerminal, program }))`,
  )
  expect(await new Response(child.stdout).json()).toEqual({
    home: '/nowhere',
    outColumns: null,
    errIsTerminal: false,
    program: 'mail4agent',
  })
})

test('output that cannot be written is told as that, and is no fault of ours', async () => {
  if (!existsSync('/dev/full')) return
  const cli = JSON.stringify(join(import.meta.dir, '../../../src/cli/cli.ts'))
  const script = `import { processIo } from ${JSON.stringify(join(import.meta.dir, '../../../src/cli/io.ts'))}
    import { runCommand } from ${cli}
    process.exit(await runCommand(['version'], processIo()))`
  const full = (redirect: string) =>
    Bun.spawn(['/bin/sh', '-c', `exec "$0" -e "$1" ${redirect}`, process.execPath, script], { stderr: 'pipe' })
  const child = full('> /dev/full')
  expect(await new Response(child.stderr).text()).toBe('cannot write to standard output (ENOSPC)\n')
  expect(await child.exited).toBe(1)
  expect(await full('> /dev/full 2> /dev/full').exited).toBe(1)
})
