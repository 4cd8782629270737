import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'

/**
 * Lets a server take connections, on a free port of this machine. By HTTP it leaves idle ones to its clients. A process that
 * stood still for Node's 5 seconds would close one just as its own client asks anew, and the request would be reset.
 */
export async function listening(
  server: Server & { keepAliveTimeout?: number },
): Promise<{ port: number; url: string }> {
  if (server.keepAliveTimeout !== undefined) server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}` }
}
