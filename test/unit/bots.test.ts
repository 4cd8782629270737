import { runInNewContext } from 'node:vm'
import { list as isbotPatterns } from 'isbot'
import { describe, expect, test } from 'vitest'
import type { Sender } from '../../ingest/event-context.ts'
import { type BotAnswer, makeBotReader } from '../../ingest/http/bots.ts'
import { makeBotVerifier } from '../../ingest/verify/verify-bot.ts'
import type { BotsBody } from '../../schemas/event/event.ts'
import { type BotVisitRow, botCategories, botReporters, botVerified, noCountry } from '../../schemas/event/row.ts'
import { describeBot, isBotAgent, patternsLeftOut, programOf } from '../../schemas/reference/bots.ts'
import { noArea } from '../../schemas/reference/places.ts'
import { botVisitOf, chrome, enrich, now, salts } from '../support/enriching.ts'

const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

/** HTTP libraries and products of somebody's, by their names on short links. */
const programs = {
  'curl/8.5.0': 'curl',
  'Wget/1.21.4': 'Wget',
  'axios/1.6.0': 'axios',
  node: 'node',
  undici: 'undici',
  'python-requests/2.31.0': 'python-requests',
  'Python-urllib/3.12': 'Python-urllib',
  'python-httpx/0.27': 'python-httpx',
  'Python/3.12 aiohttp/3.9': 'Python',
  'Java/17.0.10': 'Java',
  'Go-http-client/2.0': 'Go-http-client',
  'okhttp/4.12.0': 'okhttp',
  'GuzzleHttp/7': 'GuzzleHttp',
  'Apache-HttpClient/4.5.14 (Java/11.0.1)': 'Apache-HttpClient',
  'Java-http-client/17.0.10': 'Java-http-client',
  'libwww-perl/6.67': 'libwww-perl',
  'Faraday v2.9.0': 'Faraday',
  'Dart/3.3 (dart:io)': 'Dart',
  Ruby: 'Ruby',
  'node-fetch/1.0 (+https://github.com/bitinn/node-fetch)': 'node-fetch',
  'PostmanRuntime/7.36': 'PostmanRuntime',
  'Acme-Backend/2.1 (+https://acme.example)': 'Acme-Backend',
}
const webKit = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile Safari/537.36'
const explorer = 'Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; WOW64; Trident/5.0; chromeframe/19.0.1084.52)'
const iPhone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)'
const people = [
  chrome,
  `Mozilla/5.0 (Linux; Android 10; CUBOT_X18) ${webKit}`,
  `Mozilla/5.0 (Linux; Android 8.0.0; Expanse) ${webKit}`,
  'Mozilla/5.0 (Android 10; Mobile; rv:115.0) Gecko/115.0 Firefox/115.0 QwantMobile/4.2',
  'Mozilla/5.0 (X11; Linux x86_64; rv:63.0) Gecko/20100101 Firefox/63.0 QwantBrowser/63.0',
  'QwantMobile/2.0 (iPhone; CPU iPhone OS 12_1 like Mac OS X) AppleWebKit/604.3.5 QwantiOS/2.4 Mobile/15E148',
  `Mozilla/5.0 (Linux; Android 6.0) ${webKit} SogouMSE,SogouMobileBrowser/4.2.6`,
  `Mozilla/5.0 (Linux; Android 6.0) ${webKit} SogouSearch Android1.0 version3.0 AppVersion/8101`,
  `Mozilla/5.0 (Linux; Android 6.0) ${webKit} NewsArticle/8.2.3`,
  `${iPhone} Mobile/15E148 SmartNews/24.5.0`,
  `Mozilla/5.0 (Linux; Android 10; wv) ${webKit} MicroMessenger/8.0.21.2120(0x2800153B) Process/toolsmp WeChat/arm64`,
  'Mozilla/5.0 (Windows NT 6.1) AppleWebKit/534.34 (KHTML, like Gecko) QtWeb Internet Browser/3.8 http://www.QtWeb.net',
  'Mozilla/5.0 (SAMSUNG; SAMSUNG-GT-S8500; U; Bada/1.0; en-us) AppleWebKit/533.1 (KHTML, like Gecko) Dolfin/2.0 Mobile',
  `${iPhone} Mobile/15E148 Instagram 330.0`,
  `Mozilla/5.0 (Linux; Android 14; Pixel 8) ${webKit} [Pinterest/Android]`,
]

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

  test.each(['', 'my tracking server 1.0', ...people, ...Object.keys(programs), explorer])(
    'is none where it is a browser, an HTTP library or a product of somebody’s: %s',
    (userAgent) => expect(isBotAgent(userAgent)).toBe(false),
  )

  test('of a bot makes its event a visit of the bot, and no visitor', () => {
    const url = 'https://example.com/a?gclid=secret'
    const event = { event_name: 'pageview', url, referrer: 'https://other.example/', client_event_id: 'c' }
    const sender = { userAgent: googlebot, address: '10.0.0.1' }
    const visit = botVisitOf({ ...event, ip: '192.0.2.9' }, { sender })
    expect(visit).toMatchObject({
      workspace_id: 7,
      occurred_at: now,
      received_at: now,
      client_event_id: 'c',
      path: '/a',
      category: botCategories.search,
      verified: botVerified.unknown,
      reported_by: botReporters.track,
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
  const checker = 'Mozilla/5.0 (compatible; Acme/2.1; +https://acme.example)'
  const unnamed = ['', 'Mozilla/5.0', checker].map((userAgent) => [userAgent, 'Unknown'])
  test.each([...Object.entries(programs), ...unnamed, [googlebot, 'Googlebot']])(
    'that names a program is no person’s: %s',
    (userAgent, name) => expect(programOf(userAgent!)?.name).toBe(name),
  )

  test.each([
    ...people,
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
    ['TelegramBot (like TwitterBot)', 'TelegramBot', 'Telegram'],
    ['facebookexternalhit/1.1; kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/33984', 'kakaotalk-scrap', 'Kakao'],
    ['facebookexternalhit/1.1;line-poker/1.0', 'line-poker', 'LINE'],
    [`${chrome} facebookexternalhit/1.1 Facebot Twitterbot/1.0`, 'iMessage', 'Apple'],
    ['facebookexternalhit/1.1', 'facebookexternalhit', 'Meta'],
    ['Twitterbot/1.0', 'Twitterbot', 'X'],
  ])('that previews links is whose it is, whomever it claims to be like: %s', (userAgent, name, operator) => {
    expect(describeBot(userAgent)).toEqual({ name, operator, category: 'social_preview' })
  })

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
    const text = part.repeat(400_000)
    expect(runInNewContext('describeBot(text)', { describeBot, text }, { timeout: 60_000 }).category).toBe('other')
  },
)

describe('the bots endpoint', () => {
  const sender: Sender = {
    address: '203.0.113.5',
    userAgent: 'axios/1',
    country: noCountry,
    area: noArea,
    receivedAt: now,
  }
  const nothingToCheckBy = makeBotVerifier({ lists: { find: () => undefined }, dns: undefined })
  const reader = makeBotReader({ salts, verifier: nothingToCheckBy })

  function read(body: unknown, receivedAt = now, id = 7) {
    const rows: BotVisitRow[] = []
    const bots: BotAnswer[] = []
    const from = { ...sender, receivedAt }
    const { isBatch, rejected } = reader.read(body as BotsBody, false, from, { id, timezone: 'UTC' }, (row, bot) => {
      rows.push(structuredClone(row))
      bots.push(bot)
    })
    return { isBatch, rejected, rows, bots }
  }
  const visit = { url: 'https://example.com/a?b=c', user_agent: googlebot, ip: '192.0.2.1' }

  test('a url that is no page is refused, alone and in a batch', () => {
    const bad = { ...visit, url: 'example.com/docs' }
    expect(read(bad).rejected).toMatchObject([{ index: 0, detail: [{ type: 'value_error', loc: ['body', 'url'] }] }])
    const { rejected, rows } = read({ visits: [visit, bad, { ...visit, url: '/docs' }] })
    expect(rejected).toMatchObject([{ index: 1, detail: [{ loc: ['body', 'visits', 1, 'url'] }] }])
    expect(rows.map(({ path }) => path)).toEqual(['/a', '/docs'])
  })

  test('takes one visit, and says which bot it is', () => {
    const at = { occurred_at: new Date(now - 1000).toISOString(), client_event_id: 'v-1' }
    const more = { method: 'head', status_code: 404, response_ms: 12.6, referrer: 'https://other.example/' }
    const { rows, bots, rejected, isBatch } = read({ ...visit, ...more, ...at })
    expect({ rejected, isBatch }).toEqual({ rejected: [], isBatch: false })
    expect(rows[0]).toMatchObject({
      workspace_id: 7,
      occurred_at: now - 1000,
      reported_by: botReporters.bots_endpoint,
      client_event_id: 'v-1',
      method: 'HEAD',
      status_code: 404,
      response_ms: 13,
      path: '/a',
      url: 'https://example.com/a?b=c',
    })
    const googles = { name: 'Googlebot', operator: 'Google', category: 'search' }
    expect(bots).toEqual([{ ...googles, verified: null, verification_method: 'none' }])
    expect(read(visit).rows[0]).toMatchObject({ method: 'GET', status_code: 0, response_ms: 0, occurred_at: now })
  })

  test('takes many, and refuses single ones of them', () => {
    const old = { ...visit, occurred_at: '2020-01-01T00:00:00Z' }
    const { rows, rejected, isBatch } = read({ visits: [visit, null, old, { ...visit, url: 5 }, visit] })
    expect([isBatch, rows.length]).toEqual([true, 2])
    expect(rejected.map(({ index, detail }) => [index, ...detail[0]!.loc, detail[0]!.type])).toEqual([
      [1, 'body', 'visits', 1, 'model_attributes_type'],
      [2, 'body', 'visits', 2, 'occurred_at', 'value_error'],
      [3, 'body', 'visits', 3, 'url', 'string_type'],
    ])
  })

  test('keeps of the address 16 bytes of a hash, by day and workspace; of IPv6 its first 64 bits count', () => {
    const hashOf = (ip: string | null, at = now, id = 7) => read({ ...visit, ip }, at, id).rows[0]!.ip_hash
    const hash = hashOf('192.0.2.1')
    expect(Buffer.from(hash, 'latin1')).toHaveLength(16)
    expect([hashOf('192.0.2.1', now + 3_600_000), hashOf('::ffff:192.0.2.1')]).toEqual([hash, hash])
    const others = [hashOf('192.0.2.1', now + 86_400_000), hashOf('192.0.2.1', now, 8), hashOf('192.0.2.2')]
    expect(new Set([hash, ...others]).size).toBe(4)
    expect(hashOf('2001:DB8:1:2::9')).toBe(hashOf('2001:db8:1:2:3:4:5:6'))
    expect(hashOf('2001:db8:1:3::9')).not.toBe(hashOf('2001:db8:1:2::9'))
    for (const none of [null, '']) expect(hashOf(none)).toBe('\0'.repeat(16))
    expect(JSON.stringify(read(visit).rows)).not.toContain('192.0.2.1')
  })
})
