/** The interface of an embedded store, for the supervisor and the tests. */
import type { ChildProcess } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { writeFileDurably } from '../../runtime/files/durable-file.ts'
import { sleep } from '../../runtime/retry.ts'
import type { Runnable } from '../processes/supervise.ts'

export interface Store extends Runnable {
  readonly name: 'postgres' | 'redis' | 'clickhouse'
  /** The same over restarts. */
  readonly url: string
}

const given = new Set<number>()

/**
 * A port of 127.0.0.1 that is free now. Below the range that systems give to outgoing connections, so that it is still
 * free when the one who listened on it is started again.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000)
    if (given.has(port) || !(await canListen(port))) continue
    given.add(port)
    return port
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/** The password of the store in `home`: made at its first start, and the same ever after. */
export async function keptPassword(home: string): Promise<string> {
  const file = join(home, 'password')
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  if (kept) return kept
  const made = randomBytes(24).toString('hex')
  await writeFileDurably(file, `${made}\n`)
  return made
}

/** A store's answer at its start: `reading`, where it says that it reads what it has. */
export type StartAnswer = 'up' | 'reading' | 'none'

/**
 * Asks until it is up; rejects when the child ends or says nothing for `withinMs`. One that reads what it has may take
 * as long as it needs: ended in the middle, it would begin again.
 */
export async function untilUp(child: ChildProcess, withinMs: number, ask: () => Promise<StartAnswer>): Promise<void> {
  let heardAt = performance.now()
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`ended with ${child.signalCode ?? `code ${child.exitCode}`} before it was ready`)
    }
    const answer = await ask()
    if (answer === 'up') return
    if (answer === 'reading') heardAt = performance.now()
    if (performance.now() > heardAt + withinMs) throw new Error(`not ready within ${withinMs / 1000} s`)
    await sleep(25)
  }
}
