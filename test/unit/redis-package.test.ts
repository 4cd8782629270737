import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { findRedis } from '../../start/stores/redis-package.ts'

test.each([
  ['Redis server v=6.0.16 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64', false],
  ['Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64', true],
  ['Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64', true],
])('a server on PATH that says `%s` is taken: %s', async (says, isTaken) => {
  const folder = mkdtempSync(join(tmpdir(), 'redis-package-'))
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })
  const command = join(folder, 'redis-server')
  writeFileSync(command, `#!/bin/sh\necho '${says}'\n`, { mode: 0o755 })
  vi.stubEnv('PATH', folder)
  const found = findRedis(() => {})
  if (isTaken) await expect(found).resolves.toMatchObject({ command })
  else await expect(found).rejects.toThrow('has version 6.0.16, 7 or newer is needed')
})
