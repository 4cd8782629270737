/**
 * The crawlers of the real access log, by hand: written down from reading its user agents, apart from the product's tables.
 * A line: name, category, and what a user agent of it has; the first that fits is it.
 */
export interface LoggedRequest {
  readonly address: string
  readonly agent: string
  /** Without query and fragment. */
  readonly path: string
}

/** All requests of a log that are whole lines of it. */
export function requestsOf(lines: readonly string[]): LoggedRequest[] {
  return lines.flatMap((line) => {
    const [, address, target, agent] = /^(\S+) .*?\] "[A-Z]+ (\S+)[^"]*" \d{3} \S+ ".*" "(.*)"$/.exec(line) ?? []
    if (address === undefined) return []
    return [{ address, agent: agent === '-' ? '' : agent!, path: pathOf(target!) }]
  })
}

/** As the URL parser writes it, with one slash at its beginning. */
function pathOf(target: string): string {
  return new URL(/^https?:/.test(target) ? target : `http://example.com${target}`).pathname.replace(/^\/+/, '/')
}

export const loggedBots: readonly (readonly [name: string, category: string, part: RegExp])[] = [
  ['Googlebot-Image', 'search', /Googlebot-Image/],
  ['Googlebot-Mobile', 'search', /Googlebot-Mobile/],
  ['Googlebot', 'search', /Googlebot\//],
  ['Google Favicon', 'search', /Google favicon/],
  ['Google Web Preview', 'social_preview', /Google Web Preview/],
  ['GoogleImageProxy', 'social_preview', /GoogleImageProxy/],
  ['Feedly', 'feed', /^Feedly/],
  ['FeedFetcher-Google', 'feed', /^Feedfetcher-Google/],
  ['FeedBurner', 'feed', /^FeedBurner/],
  ['AppEngine-Google', 'other', /AppEngine-Google/],
  ['bingbot', 'search', /bingbot/],
  ['BingPreview', 'social_preview', /BingPreview/],
  ['msnbot', 'search', /^msnbot/],
  ['Yahoo! Slurp', 'search', /Yahoo! Slurp/],
  ['YandexBot', 'search', /YandexBot/],
  ['YandexImages', 'search', /YandexImages/],
  ['YandexDirect', 'search', /YandexDirect/],
  ['Baiduspider', 'search', /Baiduspider/],
  ['Mail.RU_Bot', 'search', /Mail\.RU_Bot/],
  ['Exabot', 'search', /Exabot/],
  ['Sogou web spider', 'search', /Sogou/],
  ['VoilaBot', 'search', /VoilaBot/],
  ['psbot', 'search', /^psbot/],
  ['360Spider', 'search', /360Spider/],
  ['MojeekBot', 'search', /MojeekBot/],
  ['EasouSpider', 'search', /EasouSpider/],
  ['YisouSpider', 'search', /YisouSpider/],
  ['Nutch', 'search', /^nutch/],
  ['MJ12bot', 'seo', /MJ12bot/],
  ['AhrefsBot', 'seo', /AhrefsBot/],
  ['Ezooms', 'seo', /Ezooms/],
  ['siteexplorer.info', 'seo', /SiteExplorer/],
  ['magpie-crawler', 'seo', /magpie-crawler/],
  ['Spinn3r', 'seo', /Spinn3r/],
  ['Xenu Link Sleuth', 'seo', /Xenu/],
  ['Genieo', 'seo', /Genieo/],
  ['archive.org_bot', 'archiver', /archive\.org_bot/],
  ['ia_archiver', 'archiver', /^ia_archiver/],
  ['UniversalFeedParser', 'feed', /UniversalFeedParser/],
  ['Tiny Tiny RSS', 'feed', /Tiny Tiny RSS/],
  ['Feedbin', 'feed', /^Feedbin/],
  ['Digg Feed Fetcher', 'feed', /^Digg/],
  ['LiveJournal', 'feed', /^LiveJournal/],
  ['theoldreader.com', 'feed', /theoldreader/],
  ['CommaFeed', 'feed', /^CommaFeed/],
  ['SimplePie', 'feed', /^SimplePie/],
  ['FlipboardRSS', 'feed', /FlipboardRSS/],
  ['FlipboardProxy', 'social_preview', /FlipboardProxy/],
  ['facebookexternalhit', 'social_preview', /^facebookexternalhit/],
  ['Twitterbot', 'social_preview', /^Twitterbot/],
  ['Embedly', 'social_preview', /Embedly/],
  ['changedetection', 'monitoring', /changedetection/],
  ['binlar', 'security', /^binlar/],
  ['PhantomJS', 'other', /PhantomJS/],
]

/** The crawler that a user agent names, by hand; undefined: none that is known. */
export function loggedBotOf(agent: string): { name: string; category: string } | undefined {
  const found = loggedBots.find(([, , part]) => part.test(agent))
  return found && { name: found[0], category: found[1] }
}

/** Whether this is a browser’s user agent of 2015 that names no crawler. */
export function isPlainBrowser(agent: string): boolean {
  return loggedBotOf(agent) === undefined && !/bot|crawl|spider/i.test(agent) && /^(?:Mozilla|Opera)\//.test(agent)
}
