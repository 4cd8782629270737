/** Who is behind a site, as people know them. A crawler of a site that isn't here has the site itself for its operator. */

/** Lines of: operator | domains. */
const lines = `
  Acquia | acquia.com
  Adobe | adobe.com
  Ahrefs | ahrefs.com
  Algolia | algolia.com
  Alibaba | alibaba.com
  Allen Institute for AI | semanticscholar.org allenai.org
  Amazon | amazon.com buyforme.amazon alexa.com goodreads.com
  Anthropic | anthropic.com
  Apify | apify.com
  Apple | apple.com
  Arquivo.pt | arquivo.pt
  Asana | asana.com
  Atlassian | atlassian.com bitbucket.org
  Automattic | automattic.com wordpress.org wp.com wordads.co akismet.com vaultpress.com
  Awario | awario.com
  Babbar | exensa.com
  Baidu | baidu.com baidu.jp
  Better Stack | betteruptime.com betterstack.com
  Bibliothèque nationale de France | bnf.fr
  Bluesky | bsky.app blueskyweb.xyz
  Brandwatch | brandwatch.com brandwatch.net
  Brave | brave.com
  Bright Data | brightdata.com
  British Library | bl.uk
  BuiltWith | builtwith.com
  Catchpoint | catchpoint.com webpagetest.org
  Censys | censys.io
  Checkly | checklyhq.com
  Cloudflare | cloudflare.com
  Cohere | cohere.com
  Common Crawl | commoncrawl.org
  Conductor | conductor.com contentkingapp.com
  Coveo | coveo.com
  Criteo | criteo.com
  DataForSEO | dataforseo.com
  Datadog | datadoghq.com
  DeepSeek | deepseek.com
  Diffbot | diffbot.com
  Discord | discord.com discordapp.com
  DoubleVerify | doubleverify.com
  DuckDuckGo | duckduckgo.com
  Dynatrace | dynatrace.com
  Embedly | embed.ly
  Feedbin | feedbin.com
  Feedly | feedly.com
  Firecrawl | firecrawl.dev
  Flipboard | flipboard.com
  FreshRSS | freshrss.org
  GTmetrix | gtmetrix.com
  Google | google.com feedburner.com withgoogle.com deepmind.google geminicli.com pki.goog pptr.dev virustotal.com
  Grafana Labs | grafana.com
  Hugging Face | huggingface.co
  Inoreader | inoreader.com
  Integral Ad Science | integralads.com
  Internet Archive | archive.org archive-it.org
  Iframely | iframely.com
  Kagi | kagi.com
  Kakao | daum.net
  LINE | line.me
  LinkedIn | linkedin.com
  LINER | getliner.com
  Library of Congress | loc.gov
  Majestic | majestic12.co.uk majestic.com
  Meltwater | meltwater.com
  Meta | facebook.com whatsapp.com
  Microsoft | bing.com microsoft.com msn.com aka.ms playwright.dev
  Miniflux | miniflux.net
  Mojeek | mojeek.com
  Moz | moz.com
  Naver | naver.com naver.me
  NetEase | youdao.com
  Netcraft | netcraft.com
  New Relic | newrelic.com
  NewsBlur | newsblur.com
  OpenAI | openai.com
  Palo Alto Networks | paloaltonetworks.com
  Perplexity | perplexity.ai
  Pinterest | pinterest.com
  Qualys | qualys.com ssllabs.com
  Quora | quora.com
  Qwant | qwant.com
  Reddit | reddit.com
  SISTRIX | sistrix.com
  Salesforce | salesforce.com
  Samsung | samsung.com
  Screaming Frog | screamingfrog.co.uk
  Semrush | semrush.com
  Sentry | sentry.io
  Serpstat | serpstatbot.com
  Seznam | seznam.cz
  Shopify | shopify.dev
  Siteimprove | siteimprove.com
  Slack | slack.com
  Snap | snap.com snapchat.com
  Sogou | sogou.com
  SolarWinds | pingdom.com solarwinds.com
  Splunk | splunk.com
  StatusCake | statuscake.com
  Stripe | stripe.com
  Superfeedr | superfeedr.com
  Tenable | tenable.com
  Tencent | soso.com
  The New York Times | nytimes.com nyt.com
  The Trade Desk | thetradedesk.com
  TinEye | tineye.com
  Tiny Tiny RSS | tt-rss.org
  Turnitin | turnitin.com
  Twilio | sendgrid.com
  Uptime.com | uptime.com
  UptimeRobot | uptimerobot.com
  VK | vk.com odnoklassniki.ru
  Viber | viber.com
  W3C | w3.org
  Webz.io | webz.io omgili.com
  WebMeUp | webmeup-crawler.com
  Wikimedia | wikimedia.org mediawiki.org
  X | twitter.com x.com
  Yahoo | yahoo.com yahoo-help.jp
  Yandex | yandex.com yandex.ru
  Yelp | yelp.com
  You.com | you.com
  Zabbix | zabbix.com
  Zapier | zapier.com
  Zendesk | zendesk.com
  Zoho | site24x7.com
  Zyte | scrapy.org zyte.com`

export const operatorNames: ReadonlyMap<string, string> = new Map(
  lines
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [name = '', domains = ''] = line.split('|').map((field) => field.trim())
      return domains.split(' ').map((domain) => [domain, name] as const)
    }),
)

/** Sites that tell of others' crawlers, or on which anybody has pages: they say nothing of who runs one. */
export const reportingSites: ReadonlySet<string> = new Set([
  'blogspot.co.uk',
  'conman.org',
  'darkvisitors.com',
  'datadome.co',
  'github.com',
  'github.io',
  'helpscoutdocs.com',
  'knownagents.com',
  'leak.info',
  'medium.com',
  'phpbb.com',
  'projecthoneypot.org',
  'pypi.org',
  'rapef.info',
  'sf.net',
  'sites.google.com',
  'snafu.de',
  'sourceforge.net',
  'stackexchange.com',
  'stackoverflow.com',
  'udger.com',
  'useragents.io',
  'useragentstring.com',
  'wikipedia.org',
  'wixsite.com',
  'zapto.org',
])
