/**
 * How a bot's visits can be checked, by its operator's word: published lists of addresses, and the ends of its
 * addresses' host names. A bot that isn't here can't be checked. No unknown bot may get one of these names by its user
 * agent. Sources: docs/bots.md.
 */

export interface BotCheck {
  /** Names of `addressLists`. */
  readonly lists: readonly string[]
  /** Ends of host names, each with its dot. */
  readonly hosts: readonly string[]
}

const ofGoogle = 'https://developers.google.com/static/crawling/ipranges'

/** Where each list is published; a list of several addresses is all of them together. None: it comes from a folder alone. */
export const addressLists: Readonly<Record<string, readonly string[]>> = {
  googlebot: [`${ofGoogle}/common-crawlers.json`],
  'google-special-crawlers': [`${ofGoogle}/special-crawlers.json`],
  'google-user-triggered-fetchers': [
    `${ofGoogle}/user-triggered-fetchers.json`,
    `${ofGoogle}/user-triggered-fetchers-google.json`,
  ],
  bingbot: ['https://www.bing.com/toolbox/bingbot.json'],
  duckduckbot: ['https://duckduckgo.com/duckduckbot.json'],
  duckassistbot: ['https://duckduckgo.com/duckassistbot.json'],
  applebot: ['https://search.developer.apple.com/applebot.json'],
  anthropic: ['https://claude.com/crawling/bots.json'],
  gptbot: ['https://openai.com/gptbot.json'],
  'oai-searchbot': ['https://openai.com/searchbot.json'],
  'chatgpt-user': ['https://openai.com/chatgpt-user.json'],
  perplexitybot: ['https://www.perplexity.com/perplexitybot.json'],
  'perplexity-user': ['https://www.perplexity.com/perplexity-user.json'],
  meta: [],
  uptimerobot: ['https://uptimerobot.com/inc/files/ips/IPv4andIPv6.txt'],
  betterstack: ['https://uptime.betterstack.com/ips.txt'],
  pingdom: ['https://my.pingdom.com/probes/ipv4', 'https://my.pingdom.com/probes/ipv6'],
}

/** Lines of: bots | lists | ends of host names. */
const lines = `
  Googlebot, Googlebot-Mobile, Googlebot-Image, Googlebot-Video, Googlebot-News, GoogleOther, Google-InspectionTool, Storebot-Google, Google-CloudVertexBot | googlebot | .googlebot.com .google.com
  AdsBot-Google, Mediapartners-Google, APIs-Google, Google-Safety | googlebot google-special-crawlers | .googlebot.com .google.com
  FeedFetcher-Google, Google-Site-Verification, Google-Read-Aloud, Google-NotebookLM, GoogleProducer | google-user-triggered-fetchers | .google.com .gae.googleusercontent.com
  bingbot | bingbot | .search.msn.com
  msnbot, adidxbot, BingPreview | | .search.msn.com
  DuckDuckBot | duckduckbot |
  DuckAssistBot | duckassistbot |
  Applebot | applebot | .applebot.apple.com
  ClaudeBot, Claude-User, Claude-SearchBot | anthropic |
  GPTBot | gptbot |
  OAI-SearchBot | oai-searchbot |
  ChatGPT-User | chatgpt-user |
  PerplexityBot | perplexitybot |
  Perplexity-User | perplexity-user |
  facebookexternalhit, Facebot, FacebookBot, Meta-ExternalAgent, Meta-ExternalFetcher, Meta-WebIndexer | meta |
  UptimeRobot | uptimerobot |
  BetterStack, Better Uptime Bot | betterstack |
  Pingdom | pingdom |
  YandexBot, Yandex robot, YandexImages, YandexVideo, YandexDirect, YandexMetrika, YandexFavicons, YandexRenderResourcesBot | | .yandex.ru .yandex.net .yandex.com
  Baiduspider | | .baidu.com .baidu.jp
  Yahoo! Slurp | | .crawl.yahoo.net
  SeznamBot | | .seznam.cz
  MojeekBot | | .mojeek.com
  Amazonbot | | .crawl.amazonbot.amazon`

export const checks: ReadonlyMap<string, BotCheck> = new Map(
  lines
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [bots = '', lists = '', hosts = ''] = line.split('|').map((field) => field.trim())
      const words = (field: string) => field.split(' ').filter((word) => word !== '')
      return bots.split(', ').map((bot) => [bot, { lists: words(lists), hosts: words(hosts) }] as const)
    }),
)

/** By the name of a bot of our own list; undefined: nothing to check by. */
export function checkOf(botName: string): BotCheck | undefined {
  return checks.get(botName)
}

/** The end of a host name that some operator has said its crawlers have. */
export function isCrawlerHost(host: string): boolean {
  return crawlerHosts.some((end) => host.endsWith(end))
}

const crawlerHosts: readonly string[] = [...new Set([...checks.values()].flatMap(({ hosts }) => hosts))]
