import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { ownProgram } from '../../start/processes/child-process.ts'
import { endLeftOver } from '../../start/processes/left-over.ts'
import { supervise } from '../../start/processes/supervise.ts'
import { prepareClickHouse } from '../../start/stores/clickhouse.ts'
import { runOnce } from '../../start/stores/launch.ts'
import { type StartAnswer, untilUp } from '../../start/stores/store.ts'
import { setUpFolder } from '../support/test-folder.ts'

const folder = setUpFolder()

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

test('a program that hangs in a first start is ended, and the start says so', async () => {
  const began = runOnce({ command: 'sh', args: ['-c', 'echo begun; sleep 600'] }, 300)
  await expect(began).rejects.toThrow("sh didn't end within 0.3 s: begun")
  await runOnce({ command: 'sh', args: ['-c', 'sleep 0.1'] }, 60_000)

  const file = join(folder, 'hangs.js')
  writeFileSync(file, 'setTimeout(() => {}, 600_000)')
  const logFile = join(folder, 'hangs.log')
  const hanging = ownProgram({ name: 'store', file, args: [], env: {}, logFile, readyWithinMs: () => 300 })
  const kept = supervise(hanging, { changed: () => {}, died: () => {} })
  await expect(kept.firstUp).rejects.toThrow("store doesn't start (not ready within 0.3 s)")
  await kept.stop()
})

test('a ClickHouse that hangs is ended in a later start too, and has more time there', async () => {
  const home = join(folder, 'clickhouse')
  const store = await prepareClickHouse(home)
  const hangsFor = async () => {
    vi.useFakeTimers()
    try {
      const late = store.ready(new EventEmitter() as ChildProcess).catch((error: Error) => error.message)
      await vi.runAllTimersAsync()
      return await late
    } finally {
      vi.useRealTimers()
    }
  }
  expect(await hangsFor()).toBe('not ready within 120 s')
  mkdirSync(join(home, 'data'))
  expect(await hangsFor()).toBe('not ready within 900 s')
})

test('a store that says that it reads what it has is waited for, one that says nothing is not', async () => {
  const child = { exitCode: null, signalCode: null } as ChildProcess
  const until = (answers: readonly StartAnswer[]) => {
    vi.useFakeTimers()
    const left = [...answers]
    const up = untilUp(child, 1_000, async () => left.shift() ?? 'none').then(
      () => 'up',
      (error: Error) => error.message,
    )
    return vi
      .runAllTimersAsync()
      .then(() => up)
      .finally(() => vi.useRealTimers())
  }
  expect(await until([...Array<StartAnswer>(200).fill('reading'), 'up'])).toBe('up')
  expect(await until([...Array<StartAnswer>(200).fill('none'), 'up'])).toBe('not ready within 1 s')
  expect(await until(['reading'])).toBe('not ready within 1 s')
})
