import { list as isbotPatterns } from 'isbot'
import { describe, expect, test } from 'vitest'
import { type BotAnswer, makeBotReader } from '../../ingest/http/bots.ts'
import type { Sender } from '../../ingest/outcome.ts'
import { makeBotVerifier } from '../../ingest/verify/verify-bot.ts'
import type { BotsBody } from '../../schemas/event/event.ts'
import { type BotVisitRow, botCategories, botReporters, botVerified, noCountry } from '../../schemas/event/row.ts'
import { describeBot, isBotAgent, patternsLeftOut, programOf } from '../../schemas/reference/bots.ts'
import { botVisitOf, chrome, enrich, now, salts } from '../support/enriching.ts'

const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

describe('a user agent on the tracking endpoint', () => {
  test.each([
    googlebot,
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36',
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'Mozilla/5.0 (compatible; SomeNewCrawler/1.0; +https://crawler.example)',
    'FooBot/1.0',
    'Scrapy/2.11 (+https://scrapy.org)',
    'Mozilla/5.0 (compatible; PhantomJS/2.1)',
  ])('is a bot where it names a crawler or a headless browser: %s', (userAgent) => {
    expect(isBotAgent(userAgent)).toBe(true)
    expect(enrich({ url: 'https://example.com/' }, { sender: { userAgent } }).stream).toBe('bot_visits')
  })

  test.each([
    '',
    chrome,
    'curl/8.5.0',
    'Wget/1.21.4',
    'axios/1.6.0',
    'python-requests/2.31.0',
    'python-httpx/0.27',
    'Python/3.12 aiohttp/3.9',
    'Go-http-client/2.0',
    'okhttp/4.12.0',
    'Java/17.0.10',
    'Java-http-client/17.0.10',
    'Apache-HttpClient/4.5.14 (Java/11.0.1)',
    'node',
    'node-fetch/1.0 (+https://github.com/bitinn/node-fetch)',
    'undici',
    'GuzzleHttp/7',
    'libwww-perl/6.67',
    'Ruby',
    'Faraday v2.9.0',
    'Dart/3.3 (dart:io)',
    'PostmanRuntime/7.36',
    'WordPress/6.5; https://example.com',
    'Acme-Backend/2.1 (+https://acme.example)',
    'my tracking server 1.0',
    'Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; WOW64; Trident/5.0; chromeframe/19.0.1084.52)',
    'Mozilla/5.0 (Linux; Android 10; CUBOT_X18) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile Safari/537.36',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 330.0',
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile Safari/537.36 [Pinterest/Android]',
  ])('is none where it is a browser, an HTTP library or a product of somebody’s: %s', (userAgent) => {
    expect(isBotAgent(userAgent)).toBe(false)
  })

  test('of a bot makes its event a visit of the bot, and no visitor', () => {
    const visit = botVisitOf(
      {
        event_name: 'pageview',
        url: 'https://example.com/a?gclid=secret',
        referrer: 'https://other.example/',
        client_event_id: 'c',
        ip: '192.0.2.9',
      },
      { sender: { userAgent: googlebot, address: '10.0.0.1' } },
    )
    expect(visit).toMatchObject({
      workspace_id: 7,
      occurred_at: now,
      received_at: now,
      category: botCategories.search,
      verified: botVerified.unknown,
      reported_by: botReporters.track,
      client_event_id: 'c',
      path: '/a',
      url: 'https://example.com/a?gclid=',
      referrer: 'https://other.example/',
      user_agent: googlebot,
      bot_name: 'Googlebot',
      operator: 'Google',
    })
    expect(visit.ip_hash).toBe(botVisitOf({ ip: '192.0.2.9' }, { sender: { userAgent: googlebot } }).ip_hash)
  })
})

test.each([
  [{ event_name: 'pageview' }, 'track'],
  [{ event_name: 'pageview', event_type: 'track' }, 'track'],
  [{ event_name: 'pageview', event_type: 'conversion' }, 'track_event'],
  [{ event_name: 'web_vital' }, 'track_event'],
  [{ event_name: 'page_leave' }, 'track_event'],
  [{ event_name: 'signup' }, 'track_event'],
] as const)(
  'a page that a crawler loads with its script is one visit, by its page view alone: %j',
  (event, reporter) => {
    expect(botVisitOf({ ...event }, { sender: { userAgent: googlebot } }).reported_by).toBe(botReporters[reporter])
  },
)

describe('a user agent on a short link', () => {
  test.each([
    ['', 'Unknown'],
    [googlebot, 'Googlebot'],
    ['curl/8.5.0', 'curl'],
    ['Wget/1.21.4', 'Wget'],
    ['axios/1.6.0', 'axios'],
    ['python-requests/2.31.0', 'python-requests'],
    ['Python-urllib/3.12', 'Python-urllib'],
    ['Python/3.12 aiohttp/3.9', 'Python'],
    ['Go-http-client/2.0', 'Go-http-client'],
    ['okhttp/4.12.0', 'okhttp'],
    ['Java/17.0.10', 'Java'],
    ['Apache-HttpClient/4.5.14 (Java/11.0.1)', 'Apache-HttpClient'],
    ['node', 'node'],
    ['undici', 'undici'],
    ['libwww-perl/6.67', 'libwww-perl'],
    ['GuzzleHttp/7', 'GuzzleHttp'],
    ['Faraday v2.9.0', 'Faraday'],
    ['Acme-Backend/2.1 (+https://acme.example)', 'Acme-Backend'],
    ['Mozilla/5.0', 'Unknown'],
  ])('that names a program is no person’s: %s', (userAgent, name) => {
    expect(programOf(userAgent)?.name).toBe(name)
  })

  test.each([
    chrome,
    'Mozilla/5.0 (Linux; Android 10; CUBOT_X18) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile Safari/537.36',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 330.0',
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile Safari/537.36 [Pinterest/Android]',
    'Opera/9.80 (J2ME/MIDP; Opera Mini/7.1.32052/191.249; U; en) Presto/2.12.423 Version/12.16',
    'Lynx/2.9.0dev.12 libwww-FM/2.14',
  ])('that names a browser is a person’s: %s', (userAgent) => {
    expect(programOf(userAgent)).toBeNull()
  })
})

test('every pattern that is left out of isbot’s is still one of them', () => {
  expect(patternsLeftOut.filter((pattern) => !isbotPatterns.includes(pattern))).toEqual([])
})

describe('a bot', () => {
  test.each([
    ['Mozilla/5.0 (compatible; NewBot/1.0)', 'NewBot'],
    ['curl/8.5.0', 'curl'],
    [chrome, 'Unknown'],
    ['', 'Unknown'],
    ['()<>', 'Unknown'],
    [`${'x'.repeat(500)}bot`, 'x'.repeat(40)],
    ['Mozilla/5.0 (x; y-Fetcher.2-bot/1 z-crawler/2)', 'y-Fetcher.2-bot'],
  ])('that nobody knows is `other`, under its own name: %s', (userAgent, name) => {
    expect(describeBot(userAgent)).toEqual({ name, operator: '', category: 'other' })
  })
})

test.each(['a', 'b', 'bo', 'a-', '1.', 'x/1 '])(
  'a user agent of one long %s is told without looking from each place',
  (part) => {
    // By a pattern that is tried again from each place this would take minutes.
    expect(describeBot(part.repeat(400_000)).category).toBe('other')
  },
)

describe('the bots endpoint', () => {
  const sender: Sender = { address: '203.0.113.5', userAgent: 'axios/1', country: noCountry, receivedAt: now }
  const workspace = { id: 7, timezone: 'UTC' }
  const nothingToCheckBy = makeBotVerifier({ lists: { find: () => undefined }, dns: undefined })
  const reader = makeBotReader({ salts, verifier: nothingToCheckBy })

  function read(body: unknown, receivedAt = now, id = 7) {
    const rows: BotVisitRow[] = []
    const bots: BotAnswer[] = []
    const { isBatch, rejected } = reader.read(
      body as BotsBody,
      { ...sender, receivedAt },
      { ...workspace, id },
      (row, bot) => {
        rows.push(structuredClone(row))
        bots.push(bot)
      },
    )
    return { isBatch, rejected, rows, bots }
  }
  const visit = { url: 'https://example.com/a?b=c', user_agent: googlebot, ip: '192.0.2.1' }

  test('takes one visit, and says which bot it is', () => {
    const { rows, bots, rejected, isBatch } = read({
      ...visit,
      method: 'head',
      status_code: 404,
      response_ms: 12.6,
      referrer: 'https://other.example/',
      occurred_at: new Date(now - 1000).toISOString(),
      client_event_id: 'v-1',
    })
    expect({ rejected, isBatch }).toEqual({ rejected: [], isBatch: false })
    expect(rows[0]).toMatchObject({
      workspace_id: 7,
      occurred_at: now - 1000,
      reported_by: botReporters.bots_endpoint,
      method: 'HEAD',
      status_code: 404,
      response_ms: 13,
      path: '/a',
      url: 'https://example.com/a?b=c',
      client_event_id: 'v-1',
    })
    expect(bots).toEqual([
      { name: 'Googlebot', operator: 'Google', category: 'search', verified: null, verification_method: 'none' },
    ])
    expect(read(visit).rows[0]).toMatchObject({ method: 'GET', status_code: 0, response_ms: 0, occurred_at: now })
  })

  test('takes many, and refuses single ones of them', () => {
    const old = { ...visit, occurred_at: '2020-01-01T00:00:00Z' }
    const { rows, rejected, isBatch } = read({ visits: [visit, null, old, { ...visit, url: 5 }, visit] })
    expect(isBatch).toBe(true)
    expect(rows).toHaveLength(2)
    expect(rejected.map(({ index, detail }) => [index, ...detail[0]!.loc, detail[0]!.type])).toEqual([
      [1, 'body', 'visits', 1, 'model_attributes_type'],
      [2, 'body', 'visits', 2, 'occurred_at', 'value_error'],
      [3, 'body', 'visits', 3, 'url', 'string_type'],
    ])
  })

  test('keeps of the address 16 bytes of a hash, by day and workspace', () => {
    const hash = read(visit).rows[0]!.ip_hash
    expect(hash).toHaveLength(16)
    expect(Buffer.from(hash, 'latin1')).toHaveLength(16)
    expect(read(visit).rows[0]!.ip_hash).toBe(hash)
    expect(read(visit, now + 86_400_000).rows[0]!.ip_hash).not.toBe(hash)
    expect(read(visit, now, 8).rows[0]!.ip_hash).not.toBe(hash)
    expect(read({ ...visit, ip: null }).rows[0]!.ip_hash).toBe('\0'.repeat(16))
    expect(JSON.stringify(read(visit).rows)).not.toContain('192.0.2.1')
  })
})
