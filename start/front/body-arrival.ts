/** Waits for enough of a body to be worth a service's while: who sends a byte at a time costs only the process that listens. */
import type { IncomingMessage } from 'node:http'
import { droppedBytesMax } from '../../runtime/http/body-bounds.ts'
import { bodyDeadlineMs } from '../../schemas/limits/event-limits.ts'

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

/** Ingest answers and closes at once: who still sends the body would meet the end of the connection before the answer. */
export function isBeyondReading({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) > droppedBytesMax
}

/** `begun`: there is all of it, or as much as a stream holds (16 KiB). `late`: neither came in time. `gone`: the sender left. */
export type Arrival = 'begun' | 'late' | 'gone'

/** Nothing is taken from the request: who reads it then reads all of it. */
export function untilBegun(request: IncomingMessage): Promise<Arrival> {
  // One that waited for its turn may be whole already. Where its body is empty, no event tells of that.
  if (request.complete) return Promise.resolve('begun')
  return new Promise((resolve) => {
    const settle = (arrival: Arrival) => {
      clearTimeout(timer)
      request.off('readable', look)
      request.off('close', leave)
      resolve(arrival)
    }
    const look = () => {
      if (request.complete || request.readableLength >= request.readableHighWaterMark) settle('begun')
    }
    const leave = () => settle('gone')
    const timer = setTimeout(() => settle('late'), bodyDeadlineMs)
    request.on('readable', look)
    request.once('close', leave)
  })
}
