import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { botCategories } from '../../schemas/event/row.ts'
import { crawlersFile } from '../../schemas/generate.ts'
import { generateCrawlers, listedCrawlers } from '../../schemas/generate-crawlers.ts'
import { describeBot, isBotAgent, namedBotOf } from '../../schemas/reference/bots.ts'
import { crawlerOf } from '../../schemas/reference/crawlers.ts'

test('the committed table of crawlers is what the list says: else run `npm run generate`', () => {
  expect(readFileSync(crawlersFile, 'utf8')).toBe(generateCrawlers())
})

/** User agents on the list that people use too: they name no crawler. */
const ofPeople = [
  'AP3A.240617.008',
  'Code/1.',
  'MetaIAB Facebook',
  'Trae/',
  'Fluid/',
  'Miniature.io/',
  'YLT Chrome',
  'TSM-turingos',
  'Indy Library',
]

describe('every user agent that the maintained list knows of a crawler', () => {
  const agents = listedCrawlers()
    .filter(({ tags }) => !tags.includes('http-library'))
    .flatMap(({ instances }) => instances)
    .filter((agent) => !ofPeople.some((part) => agent.includes(part)))

  test('names a known bot, with a name and a category', () => {
    const unnamed = agents.filter((agent) => namedBotOf(agent) === null)
    expect(agents.length).toBeGreaterThan(1_900)
    expect(unnamed).toEqual([])
    for (const { name, category } of agents.map(describeBot)) {
      expect(name).not.toBe('')
      expect(Object.keys(botCategories)).toContain(category)
    }
  })

  test('is a bot on the tracking endpoint where it looks like a browser’s', () => {
    expect(agents.filter((agent) => agent.startsWith('Mozilla/') && !isBotAgent(agent))).toEqual([])
  })
})

test('a user agent that people’s programs have is no crawler’s, whatever a table says of a part of it', () => {
  for (const agent of [
    'Mozilla/5.0 (Linux; Android 15; Pixel 8 Build/AP3A.240617.008) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/142.0.7444.142 Mobile Safari/537.36',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Code/1.115.0 Chrome/142.0.7444.265 Electron/39.8.5 Safari/537.36',
    'Mozilla/5.0 (Macintosh; U; Intel Mac OS X 10_5_6; en-us) AppleWebKit/528.16 (KHTML, like Gecko) Fluid/0.9.6 Safari/528.16',
  ]) {
    expect(namedBotOf(agent)).toBeNull()
    expect(isBotAgent(agent)).toBe(false)
  }
})

test.each([
  ['Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)', 'SemrushBot', 'Semrush', 'seo'],
  ['magpie-crawler/1.1 (U; Linux amd64; en-GB; +http://www.brandwatch.net)', 'magpie-crawler', 'Brandwatch', 'seo'],
  ['Mozilla/5.0 (compatible; Embedly/0.2; +http://support.embed.ly/)', 'Embedly', 'Embedly', 'social_preview'],
  ['CommaFeed/1.0 (http://www.commafeed.com)', 'CommaFeed', '', 'feed'],
  ['Mozilla/5.0 (compatible; TwinWaveScanner)', 'TwinWaveScanner', 'Splunk', 'security'],
])('the table says whose a crawler is and what it comes for: %s', (agent, name, operator, category) => {
  expect(describeBot(agent)).toEqual({ name, operator, category })
})

test.each(['Zapier', 'Stripe/1.0 (+https://stripe.com/docs/webhooks)', 'SFDC-Callout/49.0', 'Make/production'])(
  'a server that sends events is no bot on the tracking endpoint, though the table knows it: %s',
  (agent) => {
    expect(isBotAgent(agent)).toBe(false)
    expect(namedBotOf(agent)).not.toBeNull()
  },
)

test('of several crawlers in a user agent the one that says most is taken, and a beginning only at the beginning', () => {
  expect(
    crawlerOf('Mozilla/5.0 (compatible; Linux x86_64; Mail.RU_Bot/2.0; +http://go.mail.ru/help/robots)')?.name,
  ).toBe('Mail.RU_Bot')
  expect(crawlerOf('dcrawl/1.0')?.name).toBe('dcrawl')
  expect(crawlerOf('my dcrawl/1.0')).toBeNull()
})
