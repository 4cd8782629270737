/**
 * `flood PORT KEY PER_SECOND MS` sends events of one tracking key to a port of 127.0.0.1. It tells its parent how many answers had which status. A process of its own: whoever measures the others isn't to
 * wait for it.
 */
import { connect } from 'node:net'
import { constants, setPriority } from 'node:os'
import { sleep } from '../../runtime/retry.ts'

/** One request at a time each: ingest's server takes no pipelines. */
const connections = 64
const everyMs = 10
const answersWithinMs = 60_000

async function flood(port: number, key: string, perSecond: number, ms: number): Promise<Record<string, number>> {
  const body = JSON.stringify({ tracking_key: key, event_name: 'flood', anonymous_id: 'v' })
  const request = `POST /api/v1/growth/track HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const statuses: Record<string, number> = {}
  const startedAt = performance.now()
  const elapsedMs = () => performance.now() - startedAt
  const free = new Set(Array.from({ length: connections }, () => connect(port, '127.0.0.1')))
  let sent = 0
  function sendDue(): void {
    for (const socket of free) {
      if (elapsedMs() > ms || sent >= (elapsedMs() / 1000) * perSecond) return
      sent++
      free.delete(socket)
      socket.write(request)
    }
  }
  for (const socket of free) {
    socket.on('data', (chunk) => {
      const status = /^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1'))?.[1]
      // The rest of an answer.
      if (status === undefined) return
      statuses[status] = (statuses[status] ?? 0) + 1
      free.add(socket)
      sendDue()
    })
  }
  const all = [...free]
  for (; elapsedMs() < ms + answersWithinMs; await sleep(everyMs)) {
    sendDue()
    if (elapsedMs() > ms && free.size === connections) break
  }
  for (const socket of all) socket.destroy()
  return statuses
}

// It would have a machine of its own: here it takes what the others leave.
setPriority(constants.priority.PRIORITY_LOW)
const [port, key, perSecond, ms] = process.argv.slice(2)
process.send!(await flood(Number(port), key!, Number(perSecond), Number(ms)))
process.disconnect()
