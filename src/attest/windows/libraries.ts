// The Windows calls that attestation needs. A HANDLE is a 64-bit number here, never a pointer.
import { dlopen } from 'bun:ffi'
import { memory } from '../memory.ts'
import { utf16 } from './layout.ts'

/** MAX_PATH in UTF-16 units. */
const PATH_UNITS = 260

// A name without a folder is looked for in the folder of the program and then in the current one, which anybody may have
// filled. kernel32.dll is the exception: it is in every process already, and a KnownDLL, so it comes out of the system's own
// section whatever lies around. It tells where the system folder is; an environment variable would tell what somebody set.
function open() {
  const kernel32 = dlopen('kernel32.dll', {
    GetSystemDirectoryW: { args: ['ptr', 'u32'], returns: 'u32' },
    OpenProcess: { args: ['u32', 'i32', 'u32'], returns: 'u64' },
    CloseHandle: { args: ['u64'], returns: 'i32' },
    GetProcessTimes: { args: ['u64', 'ptr', 'ptr', 'ptr', 'ptr'], returns: 'i32' },
    QueryFullProcessImageNameW: { args: ['u64', 'u32', 'ptr', 'ptr'], returns: 'i32' },
    WaitForSingleObject: { args: ['u64', 'u32'], returns: 'u32' },
    ReadProcessMemory: { args: ['u64', 'u64', 'ptr', 'u64', 'ptr'], returns: 'i32' },
    GetLastError: { args: [], returns: 'u32' },
  }).symbols
  const system = systemFolder(kernel32.GetSystemDirectoryW)
  const ntdll = dlopen(`${system}\\ntdll.dll`, {
    NtQueryInformationProcess: { args: ['u64', 'i32', 'ptr', 'u32', 'ptr'], returns: 'u32' },
    NtQuerySystemInformation: { args: ['i32', 'ptr', 'u32', 'ptr'], returns: 'u32' },
  }).symbols
  const advapi32 = dlopen(`${system}\\advapi32.dll`, {
    OpenProcessToken: { args: ['u64', 'u32', 'ptr'], returns: 'i32' },
    GetTokenInformation: { args: ['u64', 'i32', 'ptr', 'u32', 'ptr'], returns: 'i32' },
  }).symbols
  const iphlpapi = dlopen(`${system}\\iphlpapi.dll`, {
    GetExtendedTcpTable: { args: ['ptr', 'ptr', 'i32', 'u32', 'i32', 'u32'], returns: 'u32' },
  }).symbols
  return { kernel32, ntdll, advapi32, iphlpapi }
}

function systemFolder(ask: (at: ReturnType<typeof memory>['at'], units: number) => number): string {
  const path = memory(PATH_UNITS * 2)
  const units = ask(path.at, PATH_UNITS)
  if (units === 0 || units >= PATH_UNITS) throw new Error('GetSystemDirectoryW names no system folder')
  return utf16(path.bytes, 0, units * 2)
}

export type Libraries = ReturnType<typeof open>

let loaded: Libraries | undefined

/** Opened at the first call: this file may be loaded on a platform that does not have them. */
export function windows(): Libraries {
  loaded ??= open()
  return loaded
}
