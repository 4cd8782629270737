/** A TCP proxy before a store, to take the store away: refusing connections, or holding them without an answer. */
import { connect, createServer, type Socket } from 'node:net'

export type ProxyMode = 'open' | 'refusing' | 'hanging' | 'stalled'

export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>

/** Sees every chunk before it is passed on; one that it answers false for is swallowed. */
export interface ProxyWatch {
  toStore?(chunk: Buffer): boolean
  fromStore?(chunk: Buffer): boolean
}

/** Whether an insert into ClickHouse begins in what a client has sent. */
export function isInsert(chunk: Buffer): boolean {
  return /INSERT(\+|%20| )INTO/.test(chunk.toString('latin1'))
}

export async function startTcpProxy(storeUrl: string, watch: ProxyWatch = {}) {
  const target = new URL(storeUrl)
  const sockets = new Set<Socket>()
  let mode: ProxyMode = 'open'

  const server = createServer((client) => {
    const store = connect(Number(target.port), target.hostname)
    for (const socket of [client, store]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        store.destroy()
      })
    }
    client.on('data', (chunk) => mode === 'open' && (watch.toStore?.(chunk) ?? true) && store.write(chunk))
    store.on('data', (chunk) => mode === 'open' && (watch.fromStore?.(chunk) ?? true) && client.write(chunk))
    if (mode === 'stalled') for (const socket of [client, store]) socket.pause()
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })

  await listen(0)
  const { port } = server.address() as { port: number }
  const url = new URL(storeUrl)
  url.host = `127.0.0.1:${port}`
  return {
    /** The store's URL with this proxy's address in place of its own. */
    url: url.href,
    /**
     * `open` passes everything; `refusing` breaks and refuses connections; `hanging` keeps them and loses what is sent;
     * `stalled` keeps them as well, and passes what was sent once it is open again: as a store that is stopped, and then
     * goes on.
     */
    async set(next: ProxyMode) {
      const wasListening = mode !== 'refusing'
      mode = next
      for (const socket of sockets) {
        if (next === 'stalled') socket.pause()
        else socket.resume()
      }
      if (next === 'refusing' && wasListening) await stop()
      if (next !== 'refusing' && !wasListening) await listen(port)
    },
    close: async () => {
      if (mode !== 'refusing') await stop()
    },
  }
}
