// System call numbers and layouts of both architectures, against the headers of each.
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ABI } from '../../src/attest/linux/libc.ts'
import { havePackages } from './support/packages.ts'

const HEADERS = { x64: '/usr/include/x86_64-linux-gnu', arm64: '/usr/aarch64-linux-gnu/include' } as const
const runs =
  process.platform === 'linux' &&
  process.arch === 'x64' &&
  havePackages(
    ['/usr/bin/gcc', ...Object.values(HEADERS).map((folder) => join(folder, 'asm', 'unistd.h'))],
    ['gcc', 'linux-libc-dev', 'linux-libc-dev-arm64-cross'],
  )

/** Only the headers of that architecture are looked at; the layout of `struct stat` is that of any 64-bit compiler. */
const PROGRAM = `
#include <asm/unistd.h>
#include <asm/stat.h>
#include <asm/fcntl.h>
#include <stddef.h>
int printf(const char *, ...);
int main(void) {
  printf("{\\"getdents64\\":%d,\\"fstat\\":%d,\\"fstatfs\\":%d,\\"pidfdOpen\\":%d,\\"statUid\\":%d,\\"directory\\":%d,"
         "\\"ino\\":%d,\\"size\\":%d,\\"closeOnExec\\":%d}",
         __NR_getdents64, __NR_fstat, __NR_fstatfs, __NR_pidfd_open, (int)offsetof(struct stat, st_uid), O_DIRECTORY,
         (int)offsetof(struct stat, st_ino), (int)offsetof(struct stat, st_size), O_CLOEXEC);
}`

describe.if(runs)('Linux on', () => {
  test.each(['x64', 'arm64'] as const)('%s', (arch) => {
    const folder = mkdtempSync(join(tmpdir(), 'm4a-abi-'))
    const program = join(folder, 'abi')
    const include = arch === 'arm64' ? ['-nostdinc', '-isystem', HEADERS.arm64, '-isystem', compilerHeaders()] : []
    const options = { stdin: new TextEncoder().encode(PROGRAM), stderr: 'pipe' } as const
    const built = Bun.spawnSync(['gcc', '-x', 'c', '-w', ...include, '-o', program, '-'], options)
    if (!built.success) throw new Error(built.stderr.toString())
    const found = JSON.parse(Bun.spawnSync([program]).stdout.toString())
    rmSync(folder, { recursive: true })
    // the last three are the same on both, and so stand in the code once
    expect(found).toEqual({ ...ABI[arch], ino: 8, size: 48, closeOnExec: 0o2000000 })
  })
})

const compilerHeaders = (): string => Bun.spawnSync(['gcc', '-print-file-name=include']).stdout.toString().trim()
