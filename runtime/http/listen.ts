/** Listening, by this process alone. */
import { type TemplatedApp, type us_listen_socket, uws } from './uws.ts'

export class CantListen extends Error {
  override name = 'CantListen'
}

export interface Listening {
  readonly port: number
  /** Takes no more connections. */
  stop(): void
}

/** uWebSockets.js's `LIBUS_LISTEN_EXCLUSIVE_PORT`, which its types don't declare as the value that it is. */
const exclusivePort = 1

/**
 * Without the exclusive option a second process could listen on the same port, and each would get half of the connections.
 * @throws CantListen when another process has the port, or the address isn't this machine's
 */
export function listenAlone(app: TemplatedApp, host: string, port: number): Promise<Listening> {
  const listen = app.listen.bind(app) as unknown as (
    host: string,
    port: number,
    options: number,
    done: (socket: us_listen_socket | false) => void,
  ) => void
  return new Promise((resolve, reject) => {
    listen(host, port, exclusivePort, (socket) => {
      if (!socket) return reject(new CantListen(`can't listen on ${host}:${port}: is the port in use?`))
      resolve({ port: uws.us_socket_local_port(socket), stop: () => uws.us_listen_socket_close(socket) })
    })
  })
}
