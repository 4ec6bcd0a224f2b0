// What an open process handle tells: times, path, owner, parent, and through its memory the command line and current folder.
import { type Memory, memory } from '../memory.ts'
import { basicInformation, PARAMETERS, PEB, sidText, unicodeString, utf16, variables } from './layout.ts'
import { windows } from './libraries.ts'

const WAIT_TIMEOUT = 258
const TOKEN_QUERY = 8
const TOKEN_USER = 1
const BASIC_INFORMATION = 0
const COMMAND_LINE = 60
const SYSTEM_TIME_OF_DAY = 3
/** The longest path and command line of Windows in bytes, with a header. */
const TEXT_BYTES = 65_536 + 64
const ENVIRONMENT_BYTES = 2 * 1024 * 1024

const made = () => ({
  small: memory(1024),
  created: memory(8),
  otherTimes: [memory(8), memory(8), memory(8)] as const,
  text: memory(TEXT_BYTES),
  size: memory(8),
})
let scratch: ReturnType<typeof made> | undefined
/** Made at the first use: this file may be loaded on a platform where nobody asks. */
const buffers = () => {
  scratch ??= made()
  return scratch
}

/** The process has not ended: its handle is signalled at the end, and the pid is not given on while we have the handle. */
export const isRunning = (handle: bigint): boolean => windows().kernel32.WaitForSingleObject(handle, 0) === WAIT_TIMEOUT

/** Creation time as FILETIME; null where it cannot be asked. */
export function createdAt(handle: bigint): bigint | null {
  const { created, otherTimes } = buffers()
  const [exit, kernel, user] = otherTimes
  if (windows().kernel32.GetProcessTimes(handle, created.at, exit.at, kernel.at, user.at) === 0) return null
  return created.view.getBigUint64(0, true)
}

export function imagePath(handle: bigint): string | null {
  const { text, size } = buffers()
  size.view.setUint32(0, text.bytes.length / 2, true)
  if (windows().kernel32.QueryFullProcessImageNameW(handle, 0, text.at, size.at) === 0) return null
  return utf16(text.bytes, 0, size.view.getUint32(0, true) * 2)
}

/** The SID of the process's user as text; null where it cannot be asked. */
export function ownerOf(handle: bigint): string | null {
  const { small, size } = buffers()
  const { kernel32, advapi32 } = windows()
  if (advapi32.OpenProcessToken(handle, TOKEN_QUERY, size.at) === 0) return null
  const token = size.view.getBigUint64(0, true)
  const told = advapi32.GetTokenInformation(token, TOKEN_USER, small.at, small.bytes.length, size.at) !== 0
  kernel32.CloseHandle(token)
  // TOKEN_USER begins with a pointer to the SID, which lies behind it in the same buffer
  return told ? sidText(small.bytes, Number(small.view.getBigUint64(0, true)) - small.at) : null
}

export function basicsOf(handle: bigint): { peb: bigint; ppid: number } | null {
  const { small, size } = buffers()
  const status = windows().ntdll.NtQueryInformationProcess(handle, BASIC_INFORMATION, small.at, 48, size.at)
  return status === 0 ? basicInformation(small.view) : null
}

/** Asked of the kernel (Windows 8.1 and later), else read out of the process; null where neither is allowed. */
export function commandLine(handle: bigint, peb: bigint): string | null {
  const { text, size } = buffers()
  const { bytes, at } = text
  const status = windows().ntdll.NtQueryInformationProcess(handle, COMMAND_LINE, at, bytes.length, size.at)
  // the text lies behind its UNICODE_STRING
  if (status === 0) return utf16(bytes, 16, Math.min(unicodeString(text.view, 0).size, bytes.length - 16))
  return parameterText(handle, peb, PARAMETERS.commandLine)
}

/** Without the backslash that Windows puts behind it, but for the root of a drive. */
export function currentFolder(handle: bigint, peb: bigint): string | null {
  const path = parameterText(handle, peb, PARAMETERS.currentFolder)
  return path?.endsWith('\\') && !path.endsWith(':\\') ? path.slice(0, -1) : path
}

export function environmentOf(handle: bigint, peb: bigint, names: readonly string[]): Record<string, string> {
  const parameters = parametersOf(handle, peb)
  if (parameters === null) return {}
  const address = parameters.view.getBigUint64(PARAMETERS.environment, true)
  const size = Number(parameters.view.getBigUint64(PARAMETERS.environmentSize, true))
  if (size <= 0 || size > ENVIRONMENT_BYTES) return {}
  const block = memory(size)
  return readMemory(handle, address, block, size) ? variables(block.bytes, names) : {}
}

function parametersOf(handle: bigint, peb: bigint): Memory | null {
  const { small, text } = buffers()
  if (!readMemory(handle, peb + BigInt(PEB.parameters), small, 8)) return null
  return readMemory(handle, small.view.getBigUint64(0, true), text, PARAMETERS.size) ? text : null
}

function parameterText(handle: bigint, peb: bigint, offset: number): string | null {
  const parameters = parametersOf(handle, peb)
  if (parameters === null) return null
  const { size, address } = unicodeString(parameters.view, offset)
  return readMemory(handle, address, parameters, size) ? utf16(parameters.bytes, 0, size) : null
}

function readMemory(handle: bigint, address: bigint, into: Memory, size: number): boolean {
  if (address === 0n || size > into.bytes.length) return false
  if (windows().kernel32.ReadProcessMemory(handle, address, into.at, BigInt(size), buffers().size.at) === 0)
    return false
  return Number(buffers().size.view.getBigUint64(0, true)) === size
}

/** SYSTEM_TIMEOFDAY_INFORMATION. Throws where it cannot be asked. */
export function timeOfDay(): DataView {
  const { small, size } = buffers()
  const status = windows().ntdll.NtQuerySystemInformation(SYSTEM_TIME_OF_DAY, small.at, 48, size.at)
  if (status !== 0) throw new Error(`the boot time cannot be asked (0x${status.toString(16)})`)
  return small.view
}
