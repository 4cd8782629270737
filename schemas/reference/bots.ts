/**
 * Bots by their user agents: which senders on the tracking endpoint are bots, and the facts that are known of one. Held
 * by test/unit/bots.test.ts.
 */
import { createIsbotFromList, isbot, list as isbotPatterns } from 'isbot'
import { crawlerOf } from './crawlers.ts'
import { type Bot, knownBotOf } from './known-bots.ts'

/** The bot that is stored for a visitor that says it is one: a known bot, or else `other` under its own name. */
export function describeBot(userAgent: string): Bot {
  return namedBotOf(userAgent) ?? { name: ownNameOf(userAgent), operator: '', category: 'other' }
}

/**
 * The known bot that a user agent names, or null. A bot of the table of crawlers counts only if isbot takes the user
 * agent for a bot too. Some parts of the table stand in user agents of people's programs as well.
 */
export function namedBotOf(userAgent: string): Bot | null {
  const known = knownBotOf(userAgent)
  if (known !== null) return known
  const crawler = crawlerOf(userAgent)
  return crawler !== null && isbot(userAgent) ? crawler : null
}

const ownNameLengthMax = 40
const wordCharacter = /[\w.-]/

/** The word with `bot`, `crawler` or `spider` in it, or else the product that the user agent begins with. */
function ownNameOf(userAgent: string): string {
  const product = /^[\w.-]+/.exec(userAgent)?.[0]
  const name = botWordOf(userAgent) ?? (product === 'Mozilla' ? undefined : product) ?? 'Unknown'
  return name.slice(0, ownNameLengthMax)
}

/** In one pass: a pattern that begins with a run of letters is tried from each of them, and user agents are anybody's. */
function botWordOf(userAgent: string): string | undefined {
  const keyword = userAgent.search(/bot|crawl|spider|scrape|fetch/i)
  if (keyword < 0) return undefined
  let start = keyword
  while (start > 0 && wordCharacter.test(userAgent[start - 1]!)) start--
  return /^[\w.-]+/.exec(userAgent.slice(start))![0]
}

/**
 * Whether a user agent names a crawler or a headless browser. Our own list tells, or some of isbot's patterns, or the
 * table of crawlers where it looks like a browser's. Patterns that mean HTTP libraries and plain products are left out,
 * because server events come from these. An empty one names nothing.
 */
export function isBotAgent(userAgent: string): boolean {
  if (userAgent === '') return false
  if (knownBotOf(userAgent) !== null) return true
  if (libraries.test(userAgent)) return false
  return isNamedByIsbot(userAgent) || (userAgent.startsWith('Mozilla/') && namedBotOf(userAgent) !== null)
}

/**
 * The program that a user agent names where nobody reads pages with it: a bot, an HTTP library or a server's product. An empty
 * one is a program's too, because every browser names itself. Null for browsers. It judges visits, which no server's event is.
 */
export function programOf(userAgent: string): Bot | null {
  const isNamed = beginsLikeBrowser.test(userAgent) ? isNoBrowser : isbot
  const isProgram = userAgent === '' || isBotAgent(userAgent) || libraries.test(userAgent) || isNamed(userAgent)
  return isProgram ? describeBot(userAgent) : null
}

/** Apps add words to a browser's text (WeChat `Process/toolsmp`), so a pattern within it says nothing. */
const beginsLikeBrowser = /^(?:mozilla|opera)\//i

/** Patterns of isbot that say no more than "an HTTP library", "a product with a version" or "a browser or an app of people". */
export const patternsLeftOut: readonly string[] = [
  '(?:^|[^g])news(?!sapphire)',
  '(?<!lib)http',
  ';\\s\\w+;$',
  '@[a-z][\\w-]+\\.',
  '\\(\\)',
  '\\.com\\b',
  '\\b\\w+/1\\.0;',
  '\\bperl\\b',
  '\\|',
  '^[<\\(;]',
  '^[\\w \\.\\-\\(?:\\):%]+(?:/v?\\d+(?:\\.\\d+)?(?:\\.\\d{1,10})*?)?(?:,|$)',
  '^[\\w\\-]+/[\\w]+$',
  '^[^ ]{50,}$',
  '^\\d+\\b',
  '^\\w+/[\\w\\(\\)]*$',
  '^\\w+/\\d\\.\\d\\s\\([\\w@]+\\)$',
  '^active',
  '^apache/',
  '^avsdevicesdk/',
  '^azure',
  '^client/',
  '^custom',
  '^dispatch/\\d',
  '^email',
  '^jetty/',
  '^mozilla/\\d\\.\\d\\s[\\w\\.-]+$',
  '^mozilla/\\d\\.\\d\\s\\((?:compatible;)?(?:\\s?[\\w\\d-.]+[\\s/]\\d+\\.\\d+)?\\)$',
  '^offline',
  '^php',
  '^postman',
  '^python',
  '^rank',
  '^read',
  '^rest',
  '^stape/',
  '^track',
  '^wget',
  '^wordpress',
  'agent\\b',
  'chromeframe',
  'java(?!;)',
  'library',
  'node\\b',
  'server',
  'sogou',
  'tools',
  'url',
]

/** Beginnings of user agents of HTTP libraries, and of products that send events from servers. */
const libraries = new RegExp(
  `^(?:${[
    'aiohttp',
    'akka-http',
    'amazonaws',
    'apache-httpclient',
    'appengine-google',
    'asynchttpclient',
    'aws-sdk',
    'axios',
    'boto',
    'bun/',
    'cpp-httplib',
    'curl',
    'dart',
    'deno',
    'dio/',
    'dotnet',
    'faraday',
    'fasthttp',
    'finagle',
    'go-http-client',
    'go-resty',
    'google-api',
    'google-http',
    'got\\b',
    'guzzlehttp',
    'http\\.rb',
    'httparty',
    'httpie',
    'httpx',
    'hyper/',
    'insomnia',
    'java/',
    'jersey',
    'ktor',
    'libcurl',
    'libwww-perl',
    'lwp',
    'microsoft\\.net',
    'node\\b',
    'node-fetch',
    'nodejs',
    'okhttp',
    'openai/',
    'perl',
    'php',
    'postmanruntime',
    'powershell',
    'python',
    'reactornetty',
    'req/',
    'reqwest',
    'requests',
    'rest-client',
    'restsharp',
    'resty',
    'ruby',
    'segment',
    'sentry',
    'shopify',
    'spring',
    'stape',
    'superagent',
    'swift',
    'symfony',
    'typhoeus',
    'undici',
    'unirest',
    'urllib',
    'vert\\.x',
    'wget',
    'winhttp',
    'wordpress',
    'zend',
  ].join('|')})`,
  'i',
)

/** Patterns of a whole text, such as `Mozilla/5.0` alone, and of the page that a crawler names (`+https://…`). */
const isNoBrowser = createIsbotFromList([...patternsLeftOut.filter((pattern) => pattern.startsWith('^')), '\\+https?:'])

const leftOut = new Set(patternsLeftOut)
const isNamedByIsbot = createIsbotFromList(isbotPatterns.filter((pattern) => !leftOut.has(pattern)))
