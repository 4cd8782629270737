import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTxtReader } from '../../runtime/outbound/txt-records.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'

let server: DnsServer
beforeAll(async () => {
  server = await startDnsServer()
  server.addText('_svc.go.example.com', 'svc-domain=abc')
  server.addText('_svc.go.example.com', 'another')
  server.add('192.0.2.1', 'host.example.com')
})
afterAll(() => server.close())

test('texts come whole, and a name without any, one that is none, a fault and silence are told apart', async () => {
  const read = makeTxtReader(400, [server.address])
  expect(await read('_svc.go.example.com')).toEqual(['svc-domain=abc', 'another'])
  expect(await read('host.example.com')).toEqual([])
  expect(await read('none.example.com')).toEqual([])
  server.mode = 'fail'
  expect(await read('_svc.go.example.com')).toBe('failed')
  server.mode = 'silent'
  expect(await read('_svc.go.example.com')).toBe('timeout')
})
