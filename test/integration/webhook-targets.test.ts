/** Where webhooks may go: not into the network that the product runs in, whatever was registered. */
import { afterAll, expect, test, vi } from 'vitest'
import { startApi } from '../support/api.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { asking } from '../support/publishing.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { patience, setUpWebhooks } from '../support/webhooks.ts'

let receiver: Receiver
let dns: DnsServer
// The API takes any host here, as if its own checks had been passed by: by a name that led elsewhere when it was registered.
const { stores, mine, register, makeLink, deliveries } = setUpWebhooks(async () => {
  ;[receiver, dns] = await Promise.all([startReceiver(), startDnsServer()])
  dns.add('127.0.0.1', 'inside.example.com')
  return { allowPrivate: false, dnsServers: [dns.address] }
})
afterAll(() => Promise.all([receiver?.close(), dns?.close()]))

test('private addresses are refused when connecting, all with one text, and hear nothing', async () => {
  const hosts = ['127.0.0.1', '0x7f.1', '2130706433', '[::ffff:7f00:1]', '[::1]', 'localhost', 'inside.example.com']
  for (const host of [...hosts, 'unknown.example.com']) await register(`http://${host}:${receiver.port}/`)
  await makeLink()
  const tried = await vi.waitUntil(async () => {
    const all = await deliveries()
    return all.length > hosts.length && all.every(({ attempt_count }) => attempt_count === 1) && all
  }, patience)
  const refused = { status: 'pending', error: 'The host has no public address', response_status: null }
  for (const delivery of tried) expect(delivery).toMatchObject(refused)
  expect(receiver.connections).toBe(0)
})

test('plain http is refused at registration where the installation is not for development', async () => {
  const strict = await startApi(stores)
  const ask = asking(strict, () => mine.apiKey)
  const { status, body } = await ask('POST', '/v1/webhooks', { url: 'http://example.com/' })
  expect([status, body.detail]).toMatchObject([422, [{ loc: ['body', 'url'], type: 'value_error' }]])
  expect((await ask('POST', '/v1/webhooks', { url: 'https://example.com/' })).status).toBe(200)
  await strict.close()
})
