/**
 * A proxy before ClickHouse that is late with inserts, and completes them although the client has long given up. A
 * stalled network or a server under load does the same.
 */
import { connect, createServer, type Socket } from 'node:net'
import { listening } from './listening.ts'
import { isInsert } from './tcp-proxy.ts'

/** How late the next insert is on its way to the store, and its answer on the way back. */
export interface Lateness {
  readonly insertMs: number
  readonly answerMs: number
}

/** `next` is asked once for each insert. */
export async function startLateProxy(storeUrl: string, next: () => Lateness) {
  const target = new URL(storeUrl)
  const sockets = new Set<Socket>()
  let abandoned = 0

  const server = createServer((client) => {
    const store = connect(Number(target.port), target.hostname)
    let late: Lateness = { insertMs: 0, answerMs: 0 }
    let isClientGone = false
    let underWay = 0
    const endWhenPassed = () => {
      if (isClientGone && underWay === 0) store.destroy()
    }
    /** Passes chunks in their order, each as late as its connection is. */
    const pass = (to: Socket, chunk: Buffer, lateMs: number) => {
      if (lateMs === 0) return void to.write(chunk)
      underWay++
      const passLate = () => {
        if (isClientGone && to === store) abandoned++
        to.write(chunk)
        // The store is left alone until it has answered, heard or not.
        setTimeout(() => {
          underWay--
          endWhenPassed()
        }, 2_000)
      }
      // Where this process stood still, the client's deadline has just passed, too: its end is heard of first.
      setTimeout(() => setImmediate(passLate), lateMs)
    }
    for (const socket of [client, store]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    client.on('data', (chunk) => {
      if (isInsert(chunk)) late = next()
      pass(store, chunk, late.insertMs)
    })
    store.on('data', (chunk) => pass(client, chunk, late.answerMs))
    client.on('close', () => {
      isClientGone = true
      endWhenPassed()
    })
    store.on('close', () => client.destroy())
  })
  const url = new URL(storeUrl)
  url.host = `127.0.0.1:${(await listening(server)).port}`
  return {
    url: url.href,
    /** Inserts that were passed on after their client had closed the connection. */
    get abandoned() {
      return abandoned
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
