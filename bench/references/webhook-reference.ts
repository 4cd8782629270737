/** What deliveries are compared with: bare undici, which makes the same calls and keeps nothing. `RECEIVER CALLS AT_ONCE` */
import { Agent, request } from 'undici'

const [receiver, calls, atOnce] = process.argv.slice(2) as [string, string, string]
const dispatcher = new Agent({ pipelining: 1 })
const headers = {
  'content-type': 'application/json',
  'user-agent': 'svc-webhooks',
  'webhook-id': `evt_${'0'.repeat(32)}`,
  'webhook-timestamp': '1795167000',
  'webhook-signature': `v1,${'0'.repeat(43)}=`,
}

process.send?.({ type: 'ready', port: 0 })
process.on('SIGTERM', () => process.exit(0))
process.on('message', async (body: string) => {
  let left = Number(calls)
  const startedAt = performance.now()
  const callOneByOne = async () => {
    while (left-- > 0) {
      const answer = await request(receiver, { method: 'POST', headers, body, dispatcher })
      await answer.body.dump()
    }
  }
  await Promise.all(Array.from({ length: Number(atOnce) }, callOneByOne))
  process.send?.({ type: 'done', seconds: (performance.now() - startedAt) / 1000 })
})
