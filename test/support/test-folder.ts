import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** A folder for the tests of a file, deleted after the last of them. */
export function setUpFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
