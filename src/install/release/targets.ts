// The systems that a release is made for: how each is called by us, by Bun and by npm.

export type Target = {
  /** In the names of archives. */
  name: string
  /** Bun's compile target. */
  bun: Bun.Build.CompileTarget
  /** `os`, `cpu` and `libc` as npm means them: package.json(5). */
  os: 'linux' | 'darwin' | 'win32'
  cpu: 'x64' | 'arm64'
  libc?: 'glibc' | 'musl'
}

/** In the order in which they are built. */
export const TARGETS: readonly Target[] = [
  { name: 'linux-x64', bun: 'bun-linux-x64', os: 'linux', cpu: 'x64', libc: 'glibc' },
  { name: 'linux-x64-musl', bun: 'bun-linux-x64-musl', os: 'linux', cpu: 'x64', libc: 'musl' },
  { name: 'linux-arm64', bun: 'bun-linux-arm64', os: 'linux', cpu: 'arm64', libc: 'glibc' },
  { name: 'linux-arm64-musl', bun: 'bun-linux-arm64-musl', os: 'linux', cpu: 'arm64', libc: 'musl' },
  { name: 'darwin-x64', bun: 'bun-darwin-x64', os: 'darwin', cpu: 'x64' },
  { name: 'darwin-arm64', bun: 'bun-darwin-arm64', os: 'darwin', cpu: 'arm64' },
  { name: 'windows-x64', bun: 'bun-windows-x64', os: 'win32', cpu: 'x64' },
]

export const programFile = ({ os }: Pick<Target, 'os'>): string => (os === 'win32' ? 'mail4agent.exe' : 'mail4agent')

/** The npm package with the program of one system. */
export const platformPackage = ({ os, cpu, libc }: Target): string =>
  `@mail4agent/${os}-${cpu}${libc === 'musl' ? '-musl' : ''}`
