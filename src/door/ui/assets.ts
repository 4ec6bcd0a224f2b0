// The page's files: inside the binary, or, run from source, bundled when somebody asks for the first of them.
import page from './page/index.html'

export type Asset = { type: string; body: Uint8Array<ArrayBuffer> }

/** By name; the page itself is `index.html`. The others have names that change with what is in them. */
let assets: Promise<ReadonlyMap<string, Asset>> | undefined

export async function assetNamed(name: string): Promise<Asset | undefined> {
  assets ??= load().catch((error) => {
    assets = undefined // a file could not be read just then: the next one who asks tries again
    throw error
  })
  return (await assets).get(name)
}

async function load(): Promise<ReadonlyMap<string, Asset>> {
  const found = new Map<string, Asset>()
  for (const { name, file } of await bundled()) {
    const html = name.endsWith('.html')
    const body = html ? new TextEncoder().encode(below(await file.text())) : new Uint8Array(await file.arrayBuffer())
    found.set(html ? 'index.html' : name, { type: TYPES[name.slice(name.lastIndexOf('.'))] ?? BYTES, body })
  }
  return found
}

const BYTES = 'application/octet-stream'
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

type Bundled = { name: string; file: Blob }[]

/** A compiled program has a list of the files in it; elsewhere the import says where the page lies. */
async function bundled(): Promise<Bundled> {
  const inside = page.files
  if (inside) return inside.map(({ path }) => ({ name: path.slice(path.lastIndexOf('/') + 1), file: Bun.file(path) }))
  const built = await Bun.build({ entrypoints: [page.index], minify: true })
  if (!built.success) throw new AggregateError(built.logs, 'the page cannot be bundled')
  return built.outputs.map((file) => ({ name: file.path.slice(file.path.lastIndexOf('/') + 1), file }))
}

/** The bundler refers to its files from the root or from beside it; they are served below /ui/. */
const below = (html: string): string => html.replaceAll(/(href|src)="(?:\.?\/)?([^"/:]+\.(?:js|css))"/g, '$1="/ui/$2"')
