/** Targets of the guarded agent: only addresses that were checked, whatever a URL or a name server says. */
import { request } from 'undici'
import { afterAll, expect, test, vi } from 'vitest'
import { failureText } from '../../runtime/outbound/failure-text.ts'
import { makeGuardedAgent } from '../../runtime/outbound/guarded-agent.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { patience, setUpWebhooks } from '../support/webhooks.ts'

let receiver: Receiver
let dns: DnsServer
// The API takes any host here, as if its own checks had been passed by: by a name that led elsewhere when it was registered.
const { register, makeLink, deliveries } = setUpWebhooks(async () => {
  ;[receiver, dns] = await Promise.all([startReceiver(), startDnsServer()])
  dns.add('127.0.0.1', 'loopback.example.com')
  dns.add('10.0.0.1', 'private.example.com')
  dns.add('169.254.169.254', 'metadata.example.com')
  dns.add('::1', 'loopback-6.example.com')
  dns.add('::ffff:7f00:1', 'mapped.example.com')
  dns.add('198.51.100.1', 'mixed.example.com', ['8.8.8.8', '127.0.0.1'])
  return { allowPrivate: false, dnsServers: [dns.address] }
})
afterAll(() => Promise.all([receiver?.close(), dns?.close()]))

async function ask(host: string, options: { allowPrivate?: boolean } = {}): Promise<string> {
  const agent = makeGuardedAgent({ allowPrivate: false, connectMs: 2_000, dnsServers: [dns.address], ...options })
  try {
    const { statusCode, body } = await request(`http://${host}:${receiver.port}/`, { dispatcher: agent })
    await body.dump()
    return String(statusCode)
  } catch (error) {
    return failureText(error)
  } finally {
    await agent.destroy()
  }
}

const refused = 'The host has no public address'

test.each([
  '127.0.0.1',
  '0x7f.1',
  '2130706433',
  '0177.0.0.1',
  '127.1',
  '0',
  'localhost',
  '[::1]',
  '[::]',
  '[::ffff:7f00:1]',
  '[::ffff:127.0.0.1]',
  '[::7f00:1]',
  '[64:ff9b::7f00:1]',
  'loopback.example.com',
  'loopback-6.example.com',
  'mapped.example.com',
  'mixed.example.com',
  'private.example.com',
  'metadata.example.com',
  'unknown.example.com',
  '169.254.169.254',
  '10.0.0.1',
])('%s is refused with one text, and nobody is connected to', async (host) => {
  expect(await ask(host)).toBe(refused)
  expect(receiver.connections).toBe(0)
})

test('webhooks to such hosts, whatever was registered, are refused with that text alone', async () => {
  const hosts = ['127.0.0.1', '[::1]', 'localhost', 'loopback.example.com', 'unknown.example.com']
  for (const host of hosts) await register(`http://${host}:${receiver.port}/`)
  await makeLink()
  const tried = await vi.waitUntil(async () => {
    const all = await deliveries()
    return all.length === hosts.length && all.every(({ attempt_count }) => attempt_count === 1) && all
  }, patience)
  for (const delivery of tried)
    expect(delivery).toMatchObject({ status: 'pending', error: refused, response_status: null })
  expect(receiver.connections).toBe(0)
})

test('a name is looked up once for a connection, so a second answer changes nothing', async () => {
  // The address is in a network that was given back: public by its form, and nobody is there.
  dns.add('3ffe::1', 'rebinding.example.com')
  const looksUp = () => dns.questions.filter((question) => question.endsWith(' rebinding.example.com')).length
  expect(await ask('rebinding.example.com')).not.toBe(refused)
  // One look-up for each family; the socket asks nobody.
  expect(looksUp()).toBe(2)
  dns.add('127.0.0.1', 'rebinding.example.com')
  expect(await ask('rebinding.example.com')).toBe(refused)
  expect([looksUp(), receiver.connections]).toEqual([4, 0])
})

test('with private targets allowed all of it is reached', async () => {
  for (const host of ['127.0.0.1', '0x7f.1', 'localhost']) expect(await ask(host, { allowPrivate: true })).toBe('200')
})

test('a name server that says nothing holds up no other request', async () => {
  dns.mode = 'silent'
  let given = 0
  const waiting = Array.from({ length: 8 }, (_, at) => ask(`silent-${at}.example.com`).finally(() => given++))
  await ask('127.0.0.1', { allowPrivate: true })
  await ask('127.0.0.1')
  expect(given).toBe(0)
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['The host did not answer in time']))
  dns.mode = 'answer'
})
