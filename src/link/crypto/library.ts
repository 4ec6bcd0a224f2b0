// The crypto library, loaded from the program itself: its own loader looks for a file beside it, which a compiled program has not.
import * as bindings from '../../../node_modules/@matrix-org/matrix-sdk-crypto-wasm/pkg/matrix_sdk_crypto_wasm_bg.js'
import * as wasm from '../../../node_modules/@matrix-org/matrix-sdk-crypto-wasm/pkg/matrix_sdk_crypto_wasm_bg.wasm' with {
  type: 'file',
}

export type Library = typeof bindings

let loading: Promise<Library> | null = null

/** Once for the process; some hundred milliseconds. */
export function loadLibrary(): Promise<Library> {
  loading ??= load()
  return loading
}

async function load(): Promise<Library> {
  const path: unknown = Reflect.get(wasm, 'default') // its declaration tells of what is inside, not of the file
  const module = await WebAssembly.compile(await Bun.file(String(path)).arrayBuffer())
  const functions = Object.fromEntries(Object.entries(bindings).filter(isFunction))
  const { exports } = await WebAssembly.instantiate(module, { './matrix_sdk_crypto_wasm_bg.js': functions })
  const start = exports.__wbindgen_start
  if (typeof start !== 'function') throw new Error('the crypto library is not the release that the loader was made for')
  bindings.__wbg_set_wasm(exports)
  start()
  return bindings
}

const isFunction = (entry: [string, unknown]): entry is [string, () => unknown] => typeof entry[1] === 'function'
