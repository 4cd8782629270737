/**
 * Crawlers by user agent, with name, operator and purpose, where these are more precise than in crawlers.ts, which has all
 * other crawlers. The first matching line counts, so more specific lines come first.
 * Previews of others name Meta's and X's fetchers too. Matching uses lower case.
 */
import type { BotCategory } from '../event/row.ts'

export interface Bot {
  readonly name: string
  /** Empty when unknown. */
  readonly operator: string
  readonly category: BotCategory
}

/** Lines of: name | operator | part of the user agent, the name itself where it is left out. */
const lists: Readonly<Record<BotCategory, string>> = {
  ai_assistant: `
    ChatGPT-User | OpenAI
    Claude-User | Anthropic
    Perplexity-User | Perplexity
    PerplexityUser | Perplexity
    MistralAI-User | Mistral AI
    DuckAssistBot | DuckDuckGo
    Meta-ExternalFetcher | Meta
    Gemini-Deep-Research | Google
    Google-CloudVertexBot | Google
    Amzn-User | Amazon
    Manus-User | Manus | manus-user/
    Google-NotebookLM | Google
    Google-Agent | Google
    AmazonBuyForMe | Amazon
    Amazon-Bedrock-AgentCore-Browser | Amazon
    FirecrawlAgent | Firecrawl
    GoogleAgent-Mariner | Google
    Google-Gemini-CLI | Google
    kagi-fetcher | Kagi
    LinerBot | LINER | linerbot/`,
  ai_search: `
    OAI-SearchBot | OpenAI
    Claude-SearchBot | Anthropic
    PerplexityBot | Perplexity
    YouBot | You.com
    Amzn-SearchBot | Amazon
    Meta-WebIndexer | Meta
    AzureAI-SearchBot | Microsoft
    TavilyBot | Tavily
    ShapBot | Parallel
    Aranet-SearchBot | Aranet
    LinkupBot | Linkup
    Bravebot | Brave
    PhindBot | Phind
    xAI-SearchBot | xAI`,
  ai_training: `
    GPTBot | OpenAI
    ClaudeBot | Anthropic
    anthropic-ai | Anthropic
    Claude-Web | Anthropic
    CCBot | Common Crawl | ccbot/
    Bytespider | ByteDance
    Meta-ExternalAgent | Meta
    FacebookBot | Meta | facebookbot/
    Amazonbot | Amazon
    cohere-training-data-crawler | Cohere
    cohere-ai | Cohere
    AI2Bot | Allen Institute for AI
    Diffbot | Diffbot
    Omgilibot | Webz.io | omgili
    Webzio | Webz.io
    Timpibot | Timpi
    PanguBot | Huawei
    img2dataset | img2dataset
    GoogleOther | Google
    ImagesiftBot | Hive
    Kangaroo Bot | Kangaroo LLM`,
  social_preview: `
    TelegramBot | Telegram
    kakaotalk-scrap | Kakao
    line-poker | LINE
    iMessage | Apple | facebookexternalhit/1.1 facebot twitterbot
    facebookexternalhit | Meta
    Facebot | Meta
    Twitterbot | X
    LinkedInBot | LinkedIn
    Slackbot | Slack | slackbot
    Slack-ImgProxy | Slack
    Discordbot | Discord
    WhatsApp | Meta | whatsapp/
    Pinterestbot | Pinterest | pinterestbot
    Pinterest | Pinterest | pinterest/0.
    redditbot | Reddit
    SkypeUriPreview | Microsoft
    BingPreview | Microsoft
    vkShare | VK
    Snap URL Preview | Snap
    Bluesky Cardyb | Bluesky
    Mastodon | Mastodon | mastodon/
    svc-card | svc
    Iframely | Iframely
    Embedly | Embedly`,
  monitoring: `
    UptimeRobot | UptimeRobot
    Pingdom | SolarWinds
    StatusCake | StatusCake
    Site24x7 | Zoho
    Better Uptime Bot | Better Stack
    BetterStack | Better Stack
    Uptime-Kuma | Uptime Kuma
    DatadogSynthetics | Datadog
    NewRelicPinger | New Relic
    Checkly | Checkly
    GTmetrix | GTmetrix
    Chrome-Lighthouse | Google
    PTST | Catchpoint | ptst/
    Blackbox Exporter | Prometheus
    Cloudflare-Healthchecks | Cloudflare
    HetrixTools | HetrixTools
    updown.io | updown.io`,
  feed: `
    Feedly | Feedly
    Feedbin | Feedbin
    NewsBlur | NewsBlur
    Inoreader | Inoreader
    FreshRSS | FreshRSS
    Tiny Tiny RSS | Tiny Tiny RSS
    FeedBurner | Google
    FeedFetcher-Google | Google
    UniversalFeedParser | Universal Feed Parser
    Digg Feed Fetcher | Digg
    LiveJournal | LiveJournal | livejournal.com (
    AppleNewsBot | Apple
    Superfeedr | Superfeedr
    Miniflux | Miniflux
    Feedspot | Feedspot
    NetNewsWire | NetNewsWire`,
  archiver: `
    archive.org_bot | Internet Archive
    ia_archiver | Internet Archive
    heritrix | Internet Archive
    Arquivo-web-crawler | Arquivo.pt
    ArchiveBot | Archive Team
    HTTrack | HTTrack`,
  security: `
    CensysInspect | Censys
    Expanse | Palo Alto Networks | scaninfo@
    Shodan | Shodan
    InternetMeasurement | driftnet.io | internet-measurement
    zgrab | ZMap
    masscan | masscan
    Nuclei | ProjectDiscovery
    Nmap | Nmap | nmap scripting engine
    Nikto | Nikto
    sqlmap | sqlmap
    Detectify | Detectify
    SecurityHeaders | Probely
    LeakIX | LeakIX | l9explore
    WatchTowr | watchTowr`,
  seo: `
    AhrefsSiteAudit | Ahrefs
    AhrefsBot | Ahrefs
    SiteAuditBot | Semrush
    SemrushBot | Semrush
    MJ12bot | Majestic
    DotBot | Moz | dotbot/
    Ezooms | Moz
    rogerbot | Moz
    DataForSeoBot | DataForSEO
    Screaming Frog SEO Spider | Screaming Frog
    SEOkicks | SEOkicks
    BLEXBot | WebMeUp
    serpstatbot | Serpstat
    Spinn3r | Spinn3r
    Barkrowler | Babbar
    SISTRIX | SISTRIX
    seobilitybot | Seobility`,
  search: `
    Google-InspectionTool | Google
    Storebot-Google | Google
    AdsBot-Google | Google
    Mediapartners-Google | Google
    APIs-Google | Google
    Googlebot-Mobile | Google
    Google Favicon | Google
    Googlebot-Image | Google
    Googlebot-Video | Google
    Googlebot-News | Google
    Googlebot | Google
    bingbot | Microsoft
    adidxbot | Microsoft
    msnbot | Microsoft
    DuckDuckBot | DuckDuckGo
    YandexImages | Yandex
    YandexVideo | Yandex
    YandexDirect | Yandex
    YandexMetrika | Yandex
    YandexFavicons | Yandex
    YandexRenderResourcesBot | Yandex
    YandexBot | Yandex
    Yandex robot | Yandex | compatible; yandex
    Mail.RU_Bot | VK
    EasouSpider | Easou
    YisouSpider | Shenma
    VoilaBot | Orange
    Baiduspider | Baidu
    Applebot | Apple
    SeznamBot | Seznam
    PetalBot | Huawei
    Sogou web spider | Sogou
    360Spider | Qihoo 360
    Yeti | Naver | yeti/
    Daum | Kakao | daum/
    Yahoo! Slurp | Yahoo
    MojeekBot | Mojeek
    coccocbot | Cốc Cốc
    Exabot | Exalead`,
  other: `
    HeadlessChrome | 
    PhantomJS | 
    Puppeteer | 
    Playwright | 
    Selenium | 
    Cypress | 
    Scrapy | Zyte
    AppEngine-Google | Google`,
}

interface KnownBot {
  readonly bot: Bot
  readonly part: string
}

const knownBots: readonly KnownBot[] = Object.entries(lists).flatMap(([category, text]) =>
  text
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', operator = '', part = name] = line.split('|').map((field) => field.trim())
      return { bot: { name, operator, category: category as BotCategory }, part: part.toLowerCase() }
    }),
)

/** The bot of the list that a user agent names, or null. */
export function knownBotOf(userAgent: string): Bot | null {
  const text = userAgent.toLowerCase()
  return knownBots.find(({ part }) => text.includes(part))?.bot ?? null
}
