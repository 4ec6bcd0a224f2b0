// The crypto library's own module, which its package does not export.

declare module '*/matrix_sdk_crypto_wasm_bg.js' {
  export * from '@matrix-org/matrix-sdk-crypto-wasm'
  export function __wbg_set_wasm(exports: WebAssembly.Exports): void
}
