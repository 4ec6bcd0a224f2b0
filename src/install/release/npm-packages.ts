// The npm packages of a release: one with a launcher that people install, and one with the program for each system.
import { platformPackage, programFile, type Target } from './targets.ts'

const ABOUT = {
  description: 'A mailbox for agent sessions: one binary, proved senders, nothing lost.',
  license: 'MIT',
}

/** package.json of the package with the program for one system; npm installs it on no other: package.json(5), `os`, `cpu`, `libc`. */
export function platformManifest(target: Target, version: string): object {
  const { os, cpu, libc, name } = target
  return {
    name: platformPackage(target),
    version,
    ...ABOUT,
    description: `The program mail4agent for ${name}`,
    os: [os],
    cpu: [cpu],
    ...(libc ? { libc: [libc] } : {}),
    preferUnplugged: true,
    files: [`bin/${programFile(target)}`],
  }
}

/** package.json of what people install. It has no scripts, so that it works with --ignore-scripts. */
export const wrapperManifest = (targets: readonly Target[], version: string): object => ({
  name: 'mail4agent',
  version,
  ...ABOUT,
  engines: { node: '>=20' },
  bin: { mail4agent: 'launcher.cjs' },
  files: ['launcher.cjs'],
  optionalDependencies: Object.fromEntries(targets.map((target) => [platformPackage(target), version])),
})
