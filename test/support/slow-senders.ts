/**
 * `slow-senders PORT CONNECTIONS` sends slowly to a port of 127.0.0.1 by many connections at once. It tells its parent
 * how many milliseconds the server let each of them. A process of its own: whoever measures the others isn't to wait for
 * it.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { constants, setPriority } from 'node:os'

/** At a time, so that the kernel's queue of connections to accept (uSockets asks for 512) never overflows. */
const connectionsAtOnce = 200

const begin = 'POST /api/v1/growth/track HTTP/1.1\r\nHost: x\r\n'
const slow = {
  nothing: { head: '', drip: '' },
  headers: { head: `${begin}X: `, drip: 'x' },
  body: { head: `${begin}Content-Length: 60000\r\n\r\n{`, drip: ' ' },
  batch: { head: `${begin.replace('track', 'track/batch')}Content-Length: 900000\r\n\r\n{`, drip: ' ' },
  chunks: { head: `${begin}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`, drip: '1\r\n \r\n' },
}

interface SlowSender {
  /** Resolves once the kernel has let it in, or refused it. */
  readonly connected: Promise<unknown>
  /** How long the server let it, in milliseconds. */
  readonly lasted: Promise<number>
}

/** Sends `head`, then `drip` once a second. */
function sendSlowly(port: number, { head, drip }: { head: string; drip: string }): SlowSender {
  let startedAt = Date.now()
  // A sender of nothing hears only by probes that the server knows no connection of its.
  const socket = connect({ port, host: '127.0.0.1', keepAlive: true, keepAliveInitialDelay: 1_000 }, () => {
    startedAt = Date.now()
    socket.write(head)
  })
  const timer = setInterval(() => socket.write(drip), 1_000)
  // A reset is how a server closes on a client that is still sending.
  socket.on('error', () => {})
  const lasted = new Promise<number>((resolve) => {
    socket.on('close', () => {
      clearInterval(timer)
      resolve(Date.now() - startedAt)
    })
    socket.resume()
  })
  return { connected: Promise.race([once(socket, 'connect').catch(() => {}), lasted]), lasted }
}

/** @returns how long the server let each of them, in milliseconds */
async function sendAllSlowly(port: number, connections: number): Promise<number[]> {
  const kinds = Object.values(slow)
  const lasted: Promise<number>[] = []
  while (lasted.length < connections) {
    const senders = Array.from({ length: connectionsAtOnce }, (_, at) => sendSlowly(port, kinds[at % kinds.length]!))
    lasted.push(...senders.map((sender) => sender.lasted))
    await Promise.all(senders.map((sender) => sender.connected))
  }
  return Promise.all(lasted)
}

// They would have machines of their own: here they take what the others leave.
setPriority(constants.priority.PRIORITY_LOW)
const [port, connections] = process.argv.slice(2).map(Number)
process.send!(await sendAllSlowly(port!, connections!))
process.disconnect()
