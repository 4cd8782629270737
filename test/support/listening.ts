import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'

/** Lets a server take connections, on a free port of this machine. */
export async function listening(server: Server): Promise<{ port: number; url: string }> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}` }
}
