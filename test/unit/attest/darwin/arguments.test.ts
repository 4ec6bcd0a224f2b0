// What a macOS process was started with, out of the bytes of KERN_PROCARGS2.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { startedWith, variables } from '../../../../src/attest/darwin/arguments.ts'

/** The kernel's form: count, path filled up to eight bytes, arguments, environment, an empty word, what the loader is told. */
function bytes(path: string, argv: string[], environment: string[]): Uint8Array {
  const filled = Math.ceil((Buffer.byteLength(path) + 1) / 8) * 8
  const words = [...argv, ...environment, '', 'executable_path=x'].map((word) => `${word}\0`).join('')
  const made = Buffer.alloc(4 + filled + Buffer.byteLength(words))
  made.writeInt32LE(argv.length)
  made.write(path, 4)
  made.write(words, 4 + filled)
  return made
}

const word = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !text.includes('\0'))

test('arguments are what they were, empty ones too; the environment ends where the loader begins', () => {
  fc.assert(
    fc.property(word, fc.array(word), fc.array(word.filter((text) => text !== '')), (path, argv, environment) => {
      expect(startedWith(bytes(path, argv, environment))).toEqual({ argv, environment })
    }),
  )
})

test('bytes that were cut are no more than was there', () => {
  const whole = bytes('/usr/bin/abc', ['', '-x', 'hello'], ['A=1'])
  for (let size = 0; size < whole.length; size++) {
    const found = startedWith(whole.subarray(0, size))
    expect(found === null || found.argv.length <= 3).toBe(true)
  }
  expect(startedWith(new Uint8Array(4))).toBeNull()
})

test('only the variables that were asked for, the first of two', () => {
  expect(variables(['A=1', 'B=2', 'A=3', '=x', 'C', 'D=a=b'], ['A', 'C', 'D', ''])).toEqual({ A: '1', D: 'a=b' })
})
