// Loads attestation as on macOS, with the library that M4A_TEST_LIBRARY names: a preload of `bun test`, and a plugin of a build.
import { plugin } from 'bun'

/** The sources as they are, but for the name of the platform and the place of its library. */
export const asDarwin = (library: string): Bun.BunPlugin => ({
  name: 'as-darwin',
  setup(build) {
    build.onLoad({ filter: /src\/attest\/(?:attestor|darwin\/lib-system)\.ts$/ }, async ({ path }) => ({
      contents: (await Bun.file(path).text())
        .replaceAll('process.platform', "'darwin'")
        .replace('/usr/lib/libSystem.B.dylib', library),
      loader: 'ts',
    }))
  },
})

if (process.env.M4A_TEST_LIBRARY) plugin(asDarwin(process.env.M4A_TEST_LIBRARY))
