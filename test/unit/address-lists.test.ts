import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { BlockList, isIPv4 } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeAddressListTable, shippedListsFolder } from '../../ingest/verify/address-lists.ts'
import { keyOfAddress, makeAddressRanges } from '../../ingest/verify/address-ranges.ts'
import { systemClock } from '../../runtime/clock.ts'
import { readAddressList, writeAddressList } from '../../schemas/address-list.ts'
import { addressListPollMs } from '../../schemas/limits/bot-limits.ts'
import { addressLists, checkOf, checks } from '../../schemas/reference/bot-checks.ts'
import { describeBot } from '../../schemas/reference/bots.ts'
import { knownBotOf } from '../../schemas/reference/known-bots.ts'
import { passTimeUntil, setUpTableFolder } from '../support/table-folder.ts'

const at = Date.UTC(2026, 10, 20)

describe('a list of addresses', () => {
  test('is read from Google’s JSON and from plain lines', () => {
    const json =
      '{"creationTime":"2026-11-01T10:00:00.5","prefixes":[{"ipv4Prefix":"192.0.2.0/24"},{"ipv6Prefix":"2001:db8::/32"}]}'
    expect(readAddressList(json, at)).toEqual({
      ok: true,
      list: { date: Date.UTC(2026, 10, 1, 10, 0, 0, 500), ranges: ['192.0.2.0/24', '2001:db8::/32'] },
    })
    expect(readAddressList('# ours\n192.0.2.1\r\n\n2001:db8::/32 # and more\n', at)).toEqual({
      ok: true,
      list: { date: at, ranges: ['192.0.2.1', '2001:db8::/32'] },
    })
  })

  test('is written as it is read', () => {
    const list = { date: at, ranges: ['192.0.2.1', '2001:db8::/32'] }
    expect(readAddressList(writeAddressList(list), 0)).toEqual({ ok: true, list })
  })

  test.each([
    ['no addresses', '', '{"prefixes":[]}'],
    ['JSON', '{"prefixes":'],
    ['prefixes', '{"ranges":["192.0.2.0/24"]}'],
    ['neither', '{"prefixes":[null]}', '{"prefixes":[{"ipv4Prefix":5}]}'],
    ['no range', '{"prefixes":[{"ipv4Prefix":"192.0.2.0/33"}]}', '192.0.2.0/-1'],
    ['no address', '192.0.2.0/24\n<html>', '192.0.2.0/24/1', 'fe80::1%eth0', '192.0.2', '127.1'],
    ['wider', '0.0.0.0/0', '10.0.0.0/7', '::/0'],
  ])('that holds anything else is refused as a whole: %s', (problem, ...texts) => {
    for (const text of texts)
      expect([text, readAddressList(text, at)]).toEqual([
        text,
        { ok: false, problem: expect.stringContaining(problem) },
      ])
  })
})

describe('the lists that ship', () => {
  const files = readdirSync(shippedListsFolder).filter((file) => file.endsWith('.json'))

  test('are lists of the table, valid and dated', () => {
    expect(files.length).toBeGreaterThan(10)
    for (const file of files) {
      expect(Object.keys(addressLists)).toContain(file.replace(/\.json$/, ''))
      const read = readAddressList(readFileSync(join(shippedListsFolder, file), 'utf8'), 0)
      expect(read.ok && read.list.date).toBeGreaterThan(Date.UTC(2026, 0, 1))
    }
  })

  test('know addresses that crawlers have been seen at', async () => {
    const table = makeAddressListTable({ folder: '/nowhere', clock: systemClock, log: pino({ level: 'silent' }) })
    await table.start()
    const seen = {
      googlebot: '66.249.66.1 2001:4860:4801:10::1',
      bingbot: '157.55.39.1',
      gptbot: '20.171.206.7',
      anthropic: '216.73.217.42',
      perplexitybot: '3.224.62.45',
      applebot: '17.241.75.9',
      meta: '173.252.79.9 2a03:2880:22ff:4::face:b00c',
    }
    for (const [name, addresses] of Object.entries(seen)) {
      const has = (address: string) => table.find(name)!.has(keyOfAddress(address)!)
      for (const address of addresses.split(' ')) expect([name, address, has(address)]).toEqual([name, address, true])
      expect(has('203.0.113.7')).toBe(false)
    }
    await table.close()
  })
})

test('every bot that can be checked is one of our list, under that name, by lists that there are', () => {
  const checkedBots = [...checks.keys()]
  for (const bot of checkedBots) {
    for (const list of checkOf(bot)!.lists) expect(Object.keys(addressLists)).toContain(list)
    for (const end of checkOf(bot)!.hosts) expect(end).toMatch(/^(?:\.[a-z0-9-]+)+\.[a-z]+$/)
  }
  const named = checkedBots.filter((bot) => knownBotOf(`Mozilla/5.0 (compatible; ${bot}/1.0)`)?.name === bot)
  // Known to the table of crawlers alone.
  const others = ['Google-Read-Aloud', 'Google-Safety', 'Google-Site-Verification', 'GoogleProducer']
  expect(checkedBots.filter((bot) => !named.includes(bot)).sort()).toEqual(others)
  // One that nobody knows is unverified, even under the name of one that can be checked.
  const unknown = checkedBots.map((bot) => describeBot(`${bot}/1.0`)).filter(({ operator }) => operator === '')
  expect(unknown.filter(({ name }) => checks.has(name))).toEqual([])
})

test('an address lies in ranges exactly when Node’s own list says so', () => {
  const ipv4 = fc.tuple(fc.ipV4(), fc.integer({ min: 8, max: 32 }))
  const ipv6 = fc.tuple(fc.ipV6(), fc.integer({ min: 16, max: 128 }))
  fc.assert(
    fc.property(
      fc.array(fc.oneof(ipv4, ipv6), { minLength: 1, maxLength: 30 }),
      fc.array(fc.oneof(fc.ipV4(), fc.ipV6())),
      (ranges, others) => {
        // One for each family: to Node, IPv4 lies within IPv6.
        const expected = { ipv4: new BlockList(), ipv6: new BlockList() }
        const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')
        for (const [address, bits] of ranges) expected[familyOf(address)].addSubnet(address, bits, familyOf(address))
        const ours = makeAddressRanges(ranges.map(([address, bits]) => `${address}/${bits}`))
        for (const address of [...others, ...ranges.map(([first]) => first)]) {
          const key = keyOfAddress(address)!
          // An IPv4 address written as IPv6 is the IPv4 address to us.
          if (key.startsWith('4') && !isIPv4(address)) continue
          const isIn = expected[familyOf(address)].check(address, familyOf(address))
          expect([address, ours.has(key)]).toEqual([address, isIn])
        }
      },
    ),
  )
})

test('an IPv4 address is the same within IPv6, and IPv6 in all its forms; other texts are no address', () => {
  for (const text of ['', 'x', '1', '127.1', '0x7f.0.0.1', '192.0.2.1:80', '192.0.2.0/24', '[::1]'])
    expect([text, keyOfAddress(text)]).toEqual([text, null])
  expect(keyOfAddress('::ffff:192.0.2.1')).toBe(keyOfAddress('192.0.2.1'))
  expect(keyOfAddress('2001:DB8:0::1')).toBe(keyOfAddress('2001:db8::1'))
})

describe('the data folder', () => {
  const { pathOf, started } = setUpTableFolder()
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const logged: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void logged.push(line) })
  const key = keyOfAddress('203.0.113.7')!
  const shipped = readAddressList(readFileSync(join(shippedListsFolder, 'gptbot.json'), 'utf8'), 0)
  const newer = shipped.ok ? shipped.list.date + 86_400_000 : Number.NaN
  const list = (range: string, date = newer) =>
    JSON.stringify({ creationTime: new Date(date), prefixes: [{ ipv4Prefix: range }] })

  test('has lists that a running table takes up, and that stay in force where a newer one can’t be read', async () => {
    await writeFile(pathOf('gptbot.json'), list('203.0.113.0/24'))
    const table = await started(makeAddressListTable({ folder: pathOf(''), clock: systemClock, log }))
    const gptbot = () => table.find('gptbot')!.has(key)
    expect(gptbot()).toBe(true)
    await writeFile(pathOf('gptbot.json'), '{"prefixes":')
    await passTimeUntil(() => logged.join().includes('can’t be used'), addressListPollMs)
    expect(gptbot()).toBe(true)
    await writeFile(pathOf('gptbot.json'), list('198.51.100.0/24'))
    await passTimeUntil(() => !gptbot(), addressListPollMs)
    expect(await readdir(pathOf(''))).toEqual(['gptbot.json'])
  })

  test('stays in force while it can’t be looked at', async () => {
    const folder = pathOf('lists')
    await mkdir(folder)
    await writeFile(join(folder, 'gptbot.json'), list('203.0.113.0/24'))
    const table = await started(makeAddressListTable({ folder, clock: systemClock, log }))
    await rename(folder, pathOf('away'))
    await writeFile(folder, 'no folder')
    await passTimeUntil(() => logged.join().includes('can’t be looked at'), addressListPollMs)
    expect(table.find('gptbot')!.has(key)).toBe(true)
  })

  test('wins over what ships only with a newer list, and adds no lists that nobody asks for', async () => {
    await writeFile(pathOf('gptbot.json'), list('203.0.113.0/24', 0))
    await writeFile(pathOf('other.json'), list('203.0.113.0/24'))
    const table = await started(makeAddressListTable({ folder: pathOf(''), clock: systemClock, log }))
    expect(table.find('gptbot')!.has(key)).toBe(false)
    expect(table.find('other')).toBeUndefined()
  })
})
