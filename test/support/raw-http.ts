/** Speaks to a port byte by byte: for requests that no HTTP client would send. */
import { connect } from 'node:net'

export interface Exchange {
  /** All that came back. */
  readonly text: string
  /** The status codes of the answers, in order. */
  readonly statuses: number[]
  /** Whether the server ended the connection, and after how many milliseconds. */
  readonly closedAfterMs: number | undefined
}

/** Less than after what time a server cuts whoever says nothing: what it is to end at once doesn't end by that. */
const patienceMs = 9_000
/** An exchange that ends with its answer may wait for it: a slow machine gives it late. */
const answerWithinMs = 60_000

/**
 * Writes the pieces in order; a number is a pause in milliseconds. Reads until the server closes, `until` is found in
 * what came back, or `waitMs` have passed: only where the server is to do neither.
 */
export async function exchange(
  port: number,
  pieces: readonly (string | Buffer | number)[],
  {
    until,
    waitMs = until === undefined ? patienceMs : answerWithinMs,
  }: { until?: string | RegExp; waitMs?: number } = {},
): Promise<Exchange> {
  const socket = connect(port, '127.0.0.1')
  const startedAt = performance.now()
  let text = ''
  let closedAfterMs: number | undefined
  const over = new Promise<void>((resolve) => {
    // Bytes that came while this process stood still are heard before its time is over.
    const timer = setTimeout(() => setTimeout(resolve, 0), waitMs)
    const finish = () => {
      clearTimeout(timer)
      resolve()
    }
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (until !== undefined && text.search(until) >= 0) finish()
    })
    // A reset is how a server closes on a client that is still sending.
    socket.on('error', () => {})
    socket.on('close', () => {
      closedAfterMs = performance.now() - startedAt
      finish()
    })
  })
  for (const piece of pieces) {
    if (typeof piece === 'number') await new Promise((resolve) => setTimeout(resolve, piece))
    else if (!socket.destroyed) socket.write(piece)
  }
  await over
  socket.destroy()
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]))
  return { text, statuses, closedAfterMs }
}
