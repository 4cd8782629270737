/** What the supervisor and the tests need of an embedded store. */
import type { ChildProcess } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'

export interface Store {
  name: 'postgres' | 'redis' | 'clickhouse'
  /** The same over restarts. */
  url: string
  /** Starts the program; called again after its death. */
  spawn(): ChildProcess
  /** Resolves once it answers; rejects when it can't be expected to. */
  ready(child: ChildProcess): Promise<void>
  endSignal: NodeJS.Signals
  /** Starts lie at least so far apart. */
  restartAfterMs: number
  logFile: string
}

/** A port of 127.0.0.1 that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
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
