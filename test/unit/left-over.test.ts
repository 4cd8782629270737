import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { endLeftOver } from '../../start/processes/left-over.ts'

test('a start ends what an earlier one on its folder left behind, and nothing of a folder whose name goes on', async () => {
  for (const [argument, signal] of [
    ['/srv/data', 'SIGTERM'],
    ['/srv/data/redis/redis.conf', 'SIGTERM'],
    ['/srv/data-2', 'SIGKILL'],
  ] as const) {
    const child = spawn('sh', ['-c', 'echo up; read -r _', 'sh', argument])
    await once(child.stdout, 'data')
    const ended = once(child, 'exit')
    await endLeftOver(child.pid!, '/srv/data', 'SIGTERM')
    child.kill('SIGKILL')
    expect([argument, (await ended)[1]]).toEqual([argument, signal])
  }
})
