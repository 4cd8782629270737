import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeAddressList } from '../../schemas/address-list.ts'
import { addressListBytesMax, botListsFolder } from '../../schemas/limits/bot-limits.ts'
import { addressLists } from '../../schemas/reference/bot-checks.ts'
import { runSvc } from '../support/command-line.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { listening } from '../support/listening.ts'
import { setUpStores } from '../support/stores.ts'

const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const yandexbot = 'Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)'
const gptbot = 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)'
/** Addresses in no list; one that DNS confirms, one that it doesn't. */
const ofYandex = '77.88.8.77'
const ofNobody = '77.88.8.78'

const stores = setUpStores()
let dns: DnsServer
let ingest: TestIngest
beforeAll(async () => {
  dns = await startDnsServer()
  dns.add(ofYandex, 'spider-77-88-8-77.yandex.com')
  // Those that ship refute no more once they are a year old.
  const folder = join(stores.dataDir, botListsFolder)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'gptbot.json'), writeAddressList({ date: Date.now(), ranges: ['192.0.2.0/24'] }))
  ingest = await startIngest(stores, { BOT_DNS_SERVERS: dns.address })
})
afterAll(async () => {
  await ingest?.stop()
  await dns?.close()
})

async function visit(userAgent: string, ip: string | undefined, url = 'https://example.com/a') {
  const told = { tracking_key: ingest.key, url, user_agent: userAgent, ip }
  const { status, body } = await ingest.post('/bots/track', told)
  expect(status).toBe(202)
  return (body as { bot: { verified: boolean | null; verification_method: string } }).bot
}

/** An answer waits for DNS for a moment alone: what comes later is known to the next visit. */
const untilKnown = (userAgent: string, ip: string) =>
  expect.poll(() => visit(userAgent, ip, 'https://example.com/before')).toMatchObject({ verified: expect.any(Boolean) })

describe('a visit told to the bots endpoint', () => {
  test('is verified by the address that the sender names: by lists, or by DNS', async () => {
    for (const ip of [ofYandex, ofNobody]) await untilKnown(yandexbot, ip)
    const google = { name: 'Googlebot', operator: 'Google', category: 'search' }
    expect(await visit(googlebot, '66.249.66.1')).toEqual({
      ...google,
      verified: true,
      verification_method: 'ip_range',
    })
    for (const [agent, ip, verified, verification_method] of [
      [yandexbot, ofYandex, true, 'reverse_dns'],
      [yandexbot, ofNobody, false, 'reverse_dns'],
      [gptbot, ofNobody, false, 'ip_range'],
      ['NewBot/1.0', ofNobody, null, 'none'],
      [googlebot, undefined, null, 'none'],
    ] as const) {
      expect(await visit(agent, ip)).toMatchObject({ verified, verification_method })
    }
  })

  test('is answered while DNS keeps silent, each of a batch as far as it is known', async () => {
    dns.mode = 'silent'
    const unknown = Array.from({ length: 80 }, (_, n) => ({ user_agent: yandexbot, ip: `77.88.9.${n}` }))
    const visits = [{ user_agent: yandexbot, ip: ofYandex }, ...unknown, { user_agent: googlebot, ip: '66.249.66.1' }]
    const { status, body } = await ingest.post('/bots/track', {
      tracking_key: ingest.key,
      visits: visits.map((each) => ({ url: 'https://example.com/b', ...each })),
    })
    const { bots } = body as unknown as { bots: { verified: boolean | null }[] }
    expect([status, body.accepted]).toEqual([202, visits.length])
    expect([bots[0]!.verified, bots.at(-1)!.verified]).toEqual([true, true])
    expect(bots.slice(1, -1).every(({ verified }) => verified === null)).toBe(true)
    dns.mode = 'answer'
  })

  test('is stored with what was found', async () => {
    await ingest.shipped()
    const rows = await stores.ch.query(
      `SELECT bot_name, verified, toString(verification_method) AS method FROM bot_visits
       WHERE path = '/a' AND bot_name != 'NewBot' ORDER BY id`,
    )
    expect(rows).toEqual([
      { bot_name: 'Googlebot', verified: 1, method: 'ip_range' },
      { bot_name: 'YandexBot', verified: 1, method: 'reverse_dns' },
      { bot_name: 'YandexBot', verified: 0, method: 'reverse_dns' },
      { bot_name: 'GPTBot', verified: 0, method: 'ip_range' },
      { bot_name: 'Googlebot', verified: 255, method: 'none' },
    ])
  })
})

describe('svc bots update', () => {
  /** The mirror's answers, by path. */
  const pages = new Map<string, { status?: number; body?: string; location?: string }>()
  const mirror = createServer((request, response) => {
    const { status = 200, body = '', location } = pages.get(request.url ?? '') ?? { status: 404 }
    response.writeHead(status, location === undefined ? {} : { location }).end(body)
  })
  let mirrorUrl: string
  beforeAll(async () => {
    mirrorUrl = (await listening(mirror)).url
  })
  afterAll(() => void mirror.close())

  interface Report {
    folder: string
    lists: { list: string; outcome: string; ranges: number | null; source: string | null; problem: string | null }[]
  }
  async function update(...words: string[]): Promise<{ code: number; err: string; report: Report }> {
    const { code, out, err } = await runSvc(['bots', 'update', '--json', ...words], { DATA_DIR: stores.dataDir })
    return { code, err, report: code === 2 ? { folder: '', lists: [] } : (JSON.parse(out) as Report) }
  }
  const outcomes = ({ report }: { report: Report }) =>
    Object.fromEntries(
      report.lists.filter(({ outcome }) => outcome !== 'missing').map((each) => [each.list, each.outcome]),
    )

  test('takes lists from a folder, which a running ingest then goes by', async () => {
    const folder = join(stores.dataDir, 'given')
    await mkdir(folder)
    expect(await visit(gptbot, '203.0.113.200')).toMatchObject({ verified: false })
    await writeFile(join(folder, 'gptbot.json'), '{"prefixes":[{"ipv4Prefix":"203.0.113.192/26"}]}')
    await writeFile(join(folder, 'perplexitybot.txt'), '# of 2026\n203.0.113.1\n2001:db8::/32\n')
    await writeFile(join(folder, 'bingbot.json'), '<html>Not found</html>')
    const updated = await update('--from', folder)
    expect(updated.code).toBe(1)
    expect(outcomes(updated)).toEqual({ gptbot: 'updated', perplexitybot: 'updated', bingbot: 'failed' })
    expect(updated.report.folder).toBe(join(stores.dataDir, botListsFolder))
    expect(updated.report.lists.map(({ list }) => list)).toEqual(Object.keys(addressLists))
    const taken = { verified: true, verification_method: 'ip_range' }
    await expect.poll(() => visit(gptbot, '203.0.113.200'), { interval: 500 }).toMatchObject(taken)
    expect(await visit(gptbot, '20.171.206.7')).toMatchObject({ verified: false, verification_method: 'ip_range' })
    expect(await readdir(updated.report.folder)).toEqual(['gptbot.json', 'perplexitybot.json'])
    expect(outcomes(await update('--from', folder, '--list', 'gptbot'))).toEqual({ gptbot: 'unchanged' })
  })

  test('takes lists from a mirror, and follows it elsewhere only over https', async () => {
    pages.set('/lists/gptbot.json', { body: '{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"}]}' })
    pages.set('/lists/anthropic.txt', { body: '192.0.2.7\n' })
    pages.set('/lists/applebot.json', { status: 302, location: '/moved.json' })
    pages.set('/moved.json', { body: '{"prefixes":[{"ipv6Prefix":"2001:db8::/48"}]}' })
    pages.set('/lists/bingbot.json', { status: 302, location: 'http://example.com/bingbot.json' })
    pages.set('/lists/meta.json', { status: 302, location: '/lists/meta.json' })
    pages.set('/lists/pingdom.json', { body: `${'#'.repeat(addressListBytesMax)}\n192.0.2.7\n` })
    pages.set('/lists/duckduckbot.json', { status: 500 })
    const updated = await update('--from', `${mirrorUrl}/lists`)
    expect(updated.code).toBe(1)
    expect(outcomes(updated)).toEqual({
      gptbot: 'updated',
      anthropic: 'updated',
      applebot: 'updated',
      bingbot: 'failed',
      meta: 'failed',
      pingdom: 'failed',
      duckduckbot: 'failed',
    })
    const problems = Object.fromEntries(updated.report.lists.map(({ list, problem }) => [list, problem]))
    const saying = { bingbot: 'https', meta: 'redirects', pingdom: 'larger', duckduckbot: '500' }
    for (const [list, why] of Object.entries(saying)) expect(problems[list]).toContain(why)
    expect((await update('--from', `${mirrorUrl}/elsewhere`)).code).toBe(1)
  })

  test.each([
    ['--from', 'http://example.com/lists'],
    ['--from', '/no/such/folder'],
    ['--from', 'ftp://example.com/lists'],
    ['--list', 'nobody'],
  ])('refuses what it can’t go by: %s %s', async (option, value) => {
    const { code, err } = await update(option, value)
    expect([code, err]).toEqual([2, expect.stringContaining(option)])
  })
})

test('with BOT_DNS_SERVERS=off nobody is asked', async () => {
  await ingest.stop()
  ingest = await startIngest(stores, { BOT_DNS_SERVERS: 'off' }, ingest)
  const asked = dns.questions.length
  expect(await visit(yandexbot, '77.88.8.99')).toMatchObject({ verified: null, verification_method: 'none' })
  expect(dns.questions).toHaveLength(asked)
})
