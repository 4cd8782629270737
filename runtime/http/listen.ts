/** Listening, by this process alone, with one thread or with several. */
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
const sharedPort = 0

/**
 * Without the exclusive option a second process could listen on the same port, and each would get half of the
 * connections.
 * @throws CantListen when another process has the port, or the address isn't this machine's
 */
export function listenExclusively(app: TemplatedApp, host: string, port: number): Promise<Listening> {
  return listen(app, host, port, exclusivePort)
}

/**
 * Listens on a port beside other threads, among which Linux spreads the connections (SO_REUSEPORT).
 * @throws CantListen as `listenExclusively`
 */
export function listenShared(app: TemplatedApp, host: string, port: number): Promise<Listening> {
  return listen(app, host, port, sharedPort)
}

/**
 * The port that threads may share: the one asked for, or for 0 a free one.
 * @throws CantListen as `listenExclusively`, so that no two processes share one
 */
export async function findPort(host: string, port: number): Promise<number> {
  const app = uws.App()
  const listening = await listenExclusively(app, host, port)
  listening.stop()
  app.close()
  return listening.port
}

function listen(app: TemplatedApp, host: string, port: number, options: number): Promise<Listening> {
  const listenOn = app.listen.bind(app) as unknown as (
    host: string,
    port: number,
    options: number,
    done: (socket: us_listen_socket | false) => void,
  ) => void
  return new Promise((resolve, reject) => {
    listenOn(host, port, options, (socket) => {
      if (!socket) return reject(new CantListen(`can't listen on ${host}:${port}: is the port in use?`))
      resolve({ port: uws.us_socket_local_port(socket), stop: () => uws.us_listen_socket_close(socket) })
    })
  })
}
