/** The lines of an access log at the bots endpoint, against a count by hand. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeBot, isBotAgent } from '../../schemas/reference/bots.ts'
import type { BotAnalytics } from '../../schemas/resources/bot-analytics.ts'
import { type AccessLog, logNames, openLog } from '../support/access-log.ts'
import { makeWorkspace, setUpApi, type TestWorkspace } from '../support/api.ts'
import { runSvc } from '../support/command-line.ts'
import { setUpIngest, startIngest, type TestIngest } from '../support/ingest.ts'
import { isPlainBrowser, loggedBotOf, loggedBots, requestsOf } from '../support/logged-bots.ts'

const { stores, api } = setUpApi({ sharesWorkspace: true })
const ingest = setUpIngest(stores, { BOT_DNS_SERVERS: 'off' })
let other: TestIngest
beforeAll(async () => {
  other = await startIngest(stores, { BOT_DNS_SERVERS: 'off', DATA_DIR: join(stores.dataDir, 'other') }, ingest)
})
afterAll(() => other?.stop())

async function replay(log: AccessLog, node: TestIngest, { trackingKey }: TestWorkspace, ...words: string[]) {
  const target = ['--tracking-url', node.url, '--tracking-key', trackingKey]
  const { code, out, err } = await runSvc(['replay', log.path, '--bots', '--json', ...target, ...words], {
    DATA_DIR: stores.dataDir,
  })
  expect([code, err]).toEqual([0, err])
  await node.shipped()
  return JSON.parse(out) as Record<string, number>
}
async function ask({ apiKey }: TestWorkspace): Promise<BotAnalytics> {
  return (await (await api.ask('/v1/analytics/bots?days=4', { key: apiKey })).json()) as BotAnalytics
}

test.for(logNames)('no user agent of a plain browser of %s is a crawler', (name, context) => {
  const agents = new Set(requestsOf(openLog(name, context).lines).map(({ agent }) => agent))
  const browsers = [...agents].filter(isPlainBrowser)
  expect(browsers.length).toBeGreaterThan(4)
  const taken = browsers.filter(
    (agent) => describeBot(agent).category !== 'other' || describeBot(agent).operator !== '',
  )
  expect(taken).toEqual([])
  // Agents with which Google shows a page to somebody, or reads it for him, say so at their end.
  expect(browsers.filter((agent) => isBotAgent(agent) && !/google/i.test(agent))).toEqual([])
})

test.for(logNames)(
  'all lines of %s are counted once, each under its crawler, in totals, bots, pages and the overview',
  async (logName, context) => {
    const log = openLog(logName, context)
    const requests = requestsOf(log.lines)
    const mine = await makeWorkspace(stores)
    const shiftTo = new Date(Date.now() - 1_000).toISOString()
    const sent = await replay(log, ingest, mine, '--everybody', '--shift-to', shiftTo)
    const odd_lines = log.lines.length - requests.length
    expect(sent).toMatchObject({
      lines: log.lines.length,
      odd_lines,
      visits: requests.length,
      others: 0,
      accepted: requests.length,
      rejected: 0,
    })
    // The same again, here and at a node that hasn't seen them.
    const again = await replay(log, ingest, mine, '--everybody', '--shift-to', shiftTo)
    expect(again).toMatchObject({ deduplicated: requests.length })
    await replay(log, other, mine, '--everybody', '--shift-to', shiftTo)

    const { totals, series, bots, pages } = await ask(mine)
    expect(totals.visits).toBe(requests.length)
    expect(series.reduce((sum, { visits }) => sum + visits, 0)).toBe(requests.length)
    expect(bots.reduce((sum, { visits }) => sum + visits, 0)).toBe(requests.length)
    for (const [name, category] of loggedBots) {
      const own = requests.filter(({ agent }) => loggedBotOf(agent)?.name === name)
      const rows = bots.filter((bot) => bot.name === name)
      expect([name, ...new Set(rows.map((row) => row.category))]).toEqual([name, category])
      expect([name, rows.reduce((sum, { visits }) => sum + visits, 0)]).toEqual([name, own.length])
      if (rows.length === 1) expect([name, rows[0]!.pages]).toEqual([name, new Set(own.map(({ path }) => path)).size])
    }
    const known = requests.filter(({ agent }) => loggedBotOf(agent) !== undefined).length
    const others = Object.entries(totals.categories).filter(([category]) => category !== 'other')
    const inOther = requests.filter(({ agent }) => loggedBotOf(agent)?.category === 'other').length
    expect(others.reduce((sum, [, visits]) => sum + visits, 0)).toBe(known - inOther)
    expect(totals.pages).toBe(new Set(requests.map(({ path }) => path)).size)
    for (const { path, visits } of pages.slice(0, 20)) {
      expect([path, visits]).toEqual([path, requests.filter((request) => request.path === path).length])
    }
    const overview = await (await api.ask('/v1/analytics/overview?days=4', { key: mine.apiKey })).json()
    expect((overview as { metrics: { bot_visits: number } }).metrics.bot_visits).toBe(requests.length)
  },
)

test.for(logNames)('without --everybody only crawlers of %s are told of, and no browser', async (logName, context) => {
  const log = openLog(logName, context)
  const requests = requestsOf(log.lines)
  const theirs = await makeWorkspace(stores)
  const { visits, others, sent } = await replay(log, ingest, theirs, '--shift-to-now')
  const known = requests.filter(({ agent }) => loggedBotOf(agent) !== undefined).length
  expect(visits).toBeGreaterThanOrEqual(known)
  expect([visits! + others!, sent]).toEqual([requests.length, visits])
  const { totals, bots } = await ask(theirs)
  expect(totals.visits).toBe(visits)
  const unknown = bots.filter(({ name }) => !loggedBots.some(([known]) => known === name))
  expect(unknown.reduce((sum, { visits: count }) => sum + count, 0)).toBe(visits! - known)
  expect(visits! - known).toBeLessThan(30)
})
