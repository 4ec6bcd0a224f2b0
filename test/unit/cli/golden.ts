// Texts that people read, kept in files: UPDATE_GOLDEN=1 writes them anew, and the difference is then reviewed.
import { expect } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dir, '../../golden/cli')

export async function expectGolden(name: string, text: string): Promise<void> {
  const file = Bun.file(join(FOLDER, `${name}.txt`))
  if (process.env.UPDATE_GOLDEN) {
    mkdirSync(FOLDER, { recursive: true })
    await file.write(text)
  }
  expect(text).toBe(await file.text())
}
