/** Takes webhooks and counts them, as cheaply as can be: what both sides call. */
import { type HttpResponse, uws } from '../../runtime/http/uws.ts'

let calls = 0
const port = await new Promise<number>((resolve, reject) => {
  uws
    .App()
    .get('/calls', (response) => void response.end(String(calls)))
    .post('/*', (response: HttpResponse) => {
      response.onAborted(() => {})
      response.onData((_, isLast) => {
        if (!isLast) return
        calls += 1
        response.cork(() => response.end())
      })
    })
    .listen('127.0.0.1', 0, (socket) => {
      if (socket) resolve(uws.us_socket_local_port(socket))
      else reject(new Error('no port'))
    })
})
process.send?.({ type: 'ready', port })
process.on('SIGTERM', () => process.exit(0))
