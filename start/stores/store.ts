/** What the supervisor and the tests need of an embedded store. */
import type { ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import type { Runnable } from '../keep-running.ts'

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

/** Asks `isUp` until it says yes; rejects when the child ends or `withinMs` have passed. */
export async function untilUp(child: ChildProcess, withinMs: number, isUp: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + withinMs
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`ended with ${child.signalCode ?? `code ${child.exitCode}`} before it was ready`)
    }
    if (await isUp()) return
    if (Date.now() > deadline) throw new Error(`not ready within ${withinMs / 1000} s`)
    await new Promise((go) => setTimeout(go, 25))
  }
}
