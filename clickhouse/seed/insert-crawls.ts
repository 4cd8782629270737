/** Inserts made-up visits of well-known crawlers to the pages of the made-up events, for the demo workspace. */
import { botVerified } from '../../schemas/event/row.ts'
import { demoCrawls, demoDays } from '../../schemas/limits/seed-limits.ts'
import { describeBot } from '../../schemas/reference/bots.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import type { ClickHouse } from '../client.ts'
import { demoSite, pages } from './vocabulary.ts'

/** The first ones come most often. The last two publish no addresses. */
const agents = [
  'Googlebot/2.1',
  'GPTBot/1.2',
  'ClaudeBot/1.0',
  'bingbot/2.0',
  'PerplexityBot/1.0',
  'ChatGPT-User/1.0',
  'OAI-SearchBot/1.0',
  'AhrefsBot/7.0',
  'Twitterbot/1.0',
] as const
/** The rest of the vocabulary's pages are rarely read by people as well. */
const crawledPages = 200

interface Crawls {
  readonly workspaceId: number
  /** The id of the last one; those before it are taken too. */
  readonly lastId: number
  /** The time of the last one; milliseconds since 1970. */
  readonly until: number
}

/** One of eight claims to be a crawler that it isn't; the last kinds are some that nobody can check. */
export async function insertCrawls(
  ch: Pick<ClickHouse, 'command'>,
  { workspaceId, lastId, until }: Crawls,
): Promise<void> {
  const bots = agents.map(describeBot)
  await ch.command(
    `INSERT INTO bot_visits (id, workspace_id, occurred_at, received_at, category, verified, verification_method, reported_by,
       status_code, response_ms, ip_hash, client_event_id, method, path, url, referrer, user_agent, bot_name, operator)
     SELECT {last_id:UInt64} - number, {workspace:UInt32}, at, at, {categories:Array(String)}[nth],
       multiIf(nth > {checked:UInt64}, ${botVerified.unknown}, draw % 8 = 0, ${botVerified.no}, ${botVerified.yes}) AS verified,
       if(verified = ${botVerified.unknown}, 'none', 'ip_range'), 'bots_endpoint',
       if(draw % 40 = 0, 404, 200), 20 + draw % 300, toFixedString(substring(hex(draw), 1, 16), 16), '', 'GET',
       {paths:Array(String)}[1 + intDiv(draw, 100) % {pages:UInt64} AS page] AS path,
       concat({site:String}, path), '',
       {agents:Array(String)}[nth], {names:Array(String)}[nth], {operators:Array(String)}[nth]
     FROM (SELECT number, cityHash64(number, {workspace:UInt32}) AS draw,
         1 + toUInt64(pow((draw % 1000) / 1000, 2) * {count:UInt64}) AS nth,
         fromUnixTimestamp64Milli({until:Int64} - toInt64(intDiv(number * {span:UInt64}, {visits:UInt64})), 'UTC') AS at
       FROM numbers({visits:UInt64}))`,
    {
      workspace: workspaceId,
      last_id: lastId,
      until,
      span: demoDays * dayMs,
      visits: demoCrawls,
      count: agents.length,
      checked: agents.length - 2,
      agents,
      names: bots.map(({ name }) => name),
      operators: bots.map(({ operator }) => operator),
      categories: bots.map(({ category }) => category),
      paths: pages.slice(0, crawledPages).map(({ path }) => path),
      pages: crawledPages,
      site: demoSite,
    },
  )
}
