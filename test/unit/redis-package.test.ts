/** Which Redis of the machine is taken. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { findRedis } from '../../start/stores/redis-package.ts'

/** A folder that PATH is until the test ends, with these programs and what each says of its version. */
function onPath(programs: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'redis-package-'))
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })
  for (const [name, says] of Object.entries(programs))
    writeFileSync(join(folder, name), `#!/bin/sh\necho '${says}'\n`, { mode: 0o755 })
  vi.stubEnv('PATH', folder)
  return folder
}

test.each([
  ['Redis server v=6.0.16 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64', false],
  ['Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64', true],
  ['Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64', true],
])('a server on PATH that says `%s` is taken: %s', async (says, isTaken) => {
  const command = join(onPath({ 'redis-server': says }), 'redis-server')
  const found = findRedis(() => {})
  if (isTaken) await expect(found).resolves.toMatchObject({ command })
  else await expect(found).rejects.toThrow('has version 6.0.16, 7 or newer is needed')
})

test('a newer valkey-server is taken where the redis-server beside it is too old', async () => {
  const folder = onPath({ 'redis-server': 'Redis server v=6.0.16', 'valkey-server': 'Valkey server v=8.1.1' })
  await expect(findRedis(() => {})).resolves.toMatchObject({ command: join(folder, 'valkey-server') })
})
