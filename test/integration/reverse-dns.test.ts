import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { keyOfAddress, makeAddressRanges } from '../../ingest/verify/address-ranges.ts'
import { makeReverseDns, type ReverseDns } from '../../ingest/verify/reverse-dns.ts'
import { type BotVerifier, makeBotVerifier } from '../../ingest/verify/verify-bot.ts'
import { sleep } from '../../runtime/retry.ts'
import {
  dnsFailedKeepMs,
  dnsLookUpsAtOnceMax,
  dnsLookUpsPerRequestMax,
  dnsWaitMs,
} from '../../schemas/limits/bot-limits.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'

let server: DnsServer
beforeAll(async () => {
  server = await startDnsServer()
  server.add('66.249.66.1', 'crawl-66-249-66-1.googlebot.com')
  server.add('2001:4860:4801:10::1', 'crawl-v6.googlebot.com')
  server.add('77.88.5.1', 'spider-77-88-5-1.Yandex.com')
  server.add('8.8.113.1', 'crawl-8-8-113-1.googlebot.com', ['66.249.66.9'])
  server.add('8.8.113.2', 'host.example.com')
  server.add('8.8.113.3', 'googlebot.com.example.org')
  server.add('8.8.113.4', 'notgooglebot.com')
})
afterAll(() => server.close())

let dns: ReverseDns
let verifier: BotVerifier
const noLists = { find: () => undefined }
beforeEach(() => {
  server.mode = 'answer'
  server.questions.length = 0
  dns = makeReverseDns({ servers: [server.address] })
  verifier = makeBotVerifier({ lists: noLists, dns })
})
afterEach(() => dns.close())

const now = Date.UTC(2026, 10, 20)
const claim = (address: string, botName = 'Googlebot') => ({ botName, address })
async function check(address: string, botName?: string) {
  await verifier.askFor([claim(address, botName)])
  const verdict = () => verifier.verify(claim(address, botName), now)
  // On a slow machine the answer comes later than is waited for.
  await expect.poll(verdict).toMatchObject({ verified: expect.any(Boolean) })
  return verdict()
}

test.each([
  ['66.249.66.1', 'Googlebot', true],
  ['::ffff:66.249.66.1', 'Googlebot', true],
  ['2001:4860:4801:10::1', 'Googlebot', true],
  ['77.88.5.1', 'YandexBot', true],
  // The name has another address; is another's; only begins or ends like that; there is none; another operator's.
  ['8.8.113.1', 'Googlebot', false],
  ['8.8.113.2', 'Googlebot', false],
  ['8.8.113.3', 'Googlebot', false],
  ['8.8.113.4', 'Googlebot', false],
  ['8.8.113.9', 'Googlebot', false],
  ['66.249.66.1', 'YandexBot', false],
])(
  'a crawler is verified where the name of its address is its operator’s and has it: %s as %s: %s',
  async (address, name, verified) => {
    expect(await check(address, name)).toEqual({ verified, method: 'reverse_dns' })
  },
)

test('nobody is asked where that would tell nothing', () => {
  for (const [address, botName] of [
    ['', 'Googlebot'],
    ['not an address', 'Googlebot'],
    ['66.249.66.1', 'NewBot'],
    ['66.249.66.1', 'GPTBot'],
    ['10.1.2.3', 'Googlebot'],
    ['127.0.0.1', 'Googlebot'],
    ['fd00::1', 'Googlebot'],
    ['192.0.2.1', 'Googlebot'],
  ] as [string, string][]) {
    expect([address, verifier.askFor([claim(address, botName)])]).toEqual([address, null])
    expect(verifier.verify(claim(address, botName), now)).toEqual({ verified: null, method: 'none' })
  }
  expect(server.questions).toEqual([])
})

test('what was found is remembered, a no as well as a yes, and asked for once at a time', async () => {
  await Promise.all([check('66.249.66.1'), check('66.249.66.1'), check('8.8.113.9')])
  const asked = server.questions.length
  expect(server.questions).toEqual(
    expect.arrayContaining([
      'PTR 1.66.249.66.in-addr.arpa',
      'A crawl-66-249-66-1.googlebot.com',
      'PTR 9.113.8.8.in-addr.arpa',
      // Whether that no is one of somebody who knows.
      'NS in-addr.arpa',
    ]),
  )
  expect(asked).toBe(4)
  expect(verifier.askFor([claim('66.249.66.1'), claim('8.8.113.9')])).toBeNull()
  expect(await check('66.249.66.1')).toMatchObject({ verified: true })
  expect(await check('8.8.113.9')).toMatchObject({ verified: false })
  expect(server.questions).toHaveLength(asked)
})

test('a list that has the address makes DNS needless, and one that hasn’t is outweighed by it', async () => {
  const ranges = { date: now, ...makeAddressRanges(['66.249.64.0/19']) }
  const listed = makeBotVerifier({ lists: { find: () => ranges }, dns })
  expect(listed.askFor([claim('66.249.66.1')])).toBeNull()
  expect(listed.verify(claim('66.249.66.1'), now)).toEqual({ verified: true, method: 'ip_range' })
  // Nobody has been asked about it yet.
  expect(listed.verify(claim('2001:4860:4801:10::1'), now)).toEqual({ verified: null, method: 'none' })
  await listed.askFor([claim('2001:4860:4801:10::1'), claim('8.8.113.2')])
  const verdicts = () => ['2001:4860:4801:10::1', '8.8.113.2'].map((one) => listed.verify(claim(one), now))
  await expect.poll(verdicts).toEqual([true, false].map((verified) => ({ verified, method: 'reverse_dns' })))
  // The list tells alone where no name can.
  for (const [address, botName] of [
    ['8.8.113.9', 'GPTBot'],
    ['10.1.2.3', 'Googlebot'],
  ] as const)
    expect(listed.verify(claim(address, botName), now)).toEqual({ verified: false, method: 'ip_range' })
  server.mode = 'fail'
  await listed.askFor([claim('8.8.113.8')])
  await expect.poll(() => dns.find(keyOfAddress('8.8.113.8')!)).toBe('unknown')
  expect(listed.verify(claim('8.8.113.8'), now)).toEqual({ verified: null, method: 'none' })
})

test('an address outside of all lists is refuted, unless they are old or one is missing', () => {
  const list = (date: number) => ({ date, ...makeAddressRanges(['66.249.64.0/19']) })
  const day = 86_400_000
  const verdict = (find: (name: string) => ReturnType<typeof list> | undefined, botName: string) =>
    makeBotVerifier({ lists: { find }, dns: undefined }).verify(claim('8.8.113.9', botName), now).verified
  expect(verdict(() => list(now - 364 * day), 'GPTBot')).toBe(false)
  expect(verdict(() => list(now - 366 * day), 'GPTBot')).toBeNull()
  expect(verdict(() => undefined, 'GPTBot')).toBeNull()
  expect(verdict((name) => (name === 'googlebot' ? list(now) : undefined), 'AdsBot-Google')).toBeNull()
  expect(verdict(() => list(now), 'YandexBot')).toBeNull()
})

describe('DNS that doesn’t answer', () => {
  test('is waited for no longer than an answer may wait; what comes later is known to the next visit', async () => {
    server.mode = 'hold'
    const waiting = verifier.askFor([claim('66.249.66.1')])
    await waiting
    expect(verifier.verify(claim('66.249.66.1'), now)).toEqual({ verified: null, method: 'none' })
    server.mode = 'answer'
    const verdict = () => verifier.verify(claim('66.249.66.1'), now)
    await expect.poll(verdict).toEqual({ verified: true, method: 'reverse_dns' })
  })

  test.each(['fail', 'silent', 'cut off'] as const)(
    'leaves a visit unverified, and isn’t asked again at once: %s',
    async (mode) => {
      server.mode = mode
      await verifier.askFor([claim('8.8.113.2')])
      const found = () => dns.find(keyOfAddress('8.8.113.2')!)
      await expect.poll(found).toBe('unknown')
      expect(verifier.verify(claim('8.8.113.2'), now)).toEqual({ verified: null, method: 'none' })
      const asked = server.questions.length
      expect(verifier.askFor([claim('8.8.113.2')])).toBeNull()
      expect(server.questions).toHaveLength(asked)
    },
  )

  test('is believed again once it reaches the Internet, though the clock was set back meanwhile', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: now + 365 * 86_400_000 })
    try {
      server.mode = 'cut off'
      await dns.lookUp(keyOfAddress('8.8.113.8')!)
      server.mode = 'answer'
      vi.setSystemTime(now)
      vi.advanceTimersByTime(dnsFailedKeepMs)
      await dns.lookUp(keyOfAddress('8.8.113.9')!)
    } finally {
      vi.useRealTimers()
    }
    expect(dns.find(keyOfAddress('8.8.113.9')!)).toBe('none')
  })
})

test('a request asks about no more addresses than it may, and all requests together about no more than that', async () => {
  server.mode = 'hold'
  const addresses = (from: number) => Array.from({ length: 500 }, (_, n) => claim(`8.51.${from + (n >> 8)}.${n & 255}`))
  const first = verifier.askFor(addresses(100))
  const asked = () => new Set(server.questions).size
  await expect.poll(asked).toBe(dnsLookUpsPerRequestMax)
  const others = [110, 120, 130].map((from) => verifier.askFor(addresses(from)))
  await expect.poll(asked).toBe(dnsLookUpsAtOnceMax)
  expect(others.slice(1)).toEqual([null, null])
  await Promise.all([first, ...others])
  await sleep(dnsWaitMs)
  expect(asked()).toBe(dnsLookUpsAtOnceMax)
})
