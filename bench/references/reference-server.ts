/**
 * R, what every rate of ingest is compared with: a bare uWebSockets.js handler that reads the same body, parses it and
 * answers 202. It validates nothing and stores nothing.
 */
import { uws } from '../../runtime/http/uws.ts'

const answer = JSON.stringify({ accepted: true, event_id: 1, deduplicated: false })

const app = uws.App().post('/*', (response) => {
  let isAborted = false
  let chunks: Buffer[] | undefined
  response.onAborted(() => {
    isAborted = true
  })
  response.onData((chunk, isLast) => {
    if (!isLast || chunks) {
      chunks ??= []
      // A copy: the chunk's memory is used again after this call.
      chunks.push(Buffer.from(new Uint8Array(chunk)))
    }
    if (!isLast) return
    const bytes = chunks ? Buffer.concat(chunks) : Buffer.from(chunk)
    JSON.parse(bytes.toString('utf8'))
    if (isAborted) return
    response.cork(() => {
      response.writeStatus('202 Accepted')
      response.writeHeader('Content-Type', 'application/json')
      response.end(answer)
    })
  })
})

app.listen('127.0.0.1', 0, (socket) => {
  if (!socket) throw new Error('no free port')
  process.send?.({ type: 'ready', port: uws.us_socket_local_port(socket) })
})
process.on('disconnect', () => process.exit())
