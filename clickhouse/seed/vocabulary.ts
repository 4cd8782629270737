/**
 * Vocabulary of made events: visits' sources, their devices, and the events in them. All lists are in falling order of
 * their share, which `rows-sql.ts` draws by Zipf's law.
 */
import { devices, kinds, vitalMetrics } from '../../schemas/event/row.ts'

/** The site of the workspace at a place of the seed's list, which begins with 1. In SQL the place is between two texts. */
export const [siteStart, siteEnd] = ['https://www.seed-', '.example'] as const
/** A demo is the only workspace of its seed. */
export const demoSite = `${siteStart}1${siteEnd}`

export interface SourceEntry {
  readonly source: string
  readonly medium: string
  /** Empty for a campaign's and for direct visits. */
  readonly referrer: string
  /** The source stands in the page's URL. */
  readonly isCampaign: boolean
}

/** `source medium`, and the referrer or `utm` where there is one. */
const sourceLines = `
  direct none
  google organic https://www.google.com/
  google cpc utm
  facebook social https://www.facebook.com/
  newsletter email utm
  bing organic https://www.bing.com/
  linkedin social https://www.linkedin.com/feed/
  chatgpt ai_assistant https://chatgpt.com/
  instagram social https://www.instagram.com/
  reddit social https://www.reddit.com/r/webdev/
  facebook paid_social utm
  duckduckgo organic https://duckduckgo.com/
  blog.partner.example referral https://blog.partner.example/review
  youtube video https://www.youtube.com/
  x social https://t.co/a1B2c3D4e5
  hackernews social https://news.ycombinator.com/item?id=40123456
  linkedin paid_social utm
  yahoo organic https://search.yahoo.com/
  product-updates email utm
  forum.example referral https://forum.example/t/4711
  tiktok social https://www.tiktok.com/
  perplexity ai_assistant https://www.perplexity.ai/
  bing cpc utm
  partner affiliate utm
  pinterest social https://www.pinterest.com/
  ecosia organic https://www.ecosia.org/
  directory.example referral https://directory.example/tools
  instagram paid_social utm
  yandex organic https://ya.ru/
  digest email utm
  claude ai_assistant https://claude.ai/
  wiki.example referral https://wiki.example/analytics
  webinar email utm
  brave organic https://search.brave.com/
  news.example referral https://news.example/2026/launch
  youtube cpc utm
  baidu organic https://www.baidu.com/
  podcast audio utm
  gemini ai_assistant https://gemini.google.com/
  reviews.example referral https://reviews.example/svc
  welcome email utm
  qwant organic https://www.qwant.com/
  tiktok paid_social utm
  copilot ai_assistant https://copilot.microsoft.com/
  university.example referral https://www.university.example/links
  reddit cpc utm
  quora social https://www.quora.com/
  naver organic https://search.naver.com/
  magazine.example referral https://magazine.example/issue-12
  push push utm
  mastodon social https://mastodon.social/
  startpage organic https://www.startpage.com/
  shop.example referral https://shop.example/partners
  display display utm
  sms sms utm
  kagi organic https://kagi.com/
  bluesky social https://bsky.app/
  poster qr utm
  events.example referral https://events.example/talks
  retargeting display utm
  x paid_social utm
  docs.partner.example referral https://docs.partner.example/setup`

export const sources: readonly SourceEntry[] = linesOf(sourceLines).map(([source, medium, from = '']) => ({
  source: source!,
  medium: medium!,
  referrer: from === 'utm' ? '' : from,
  isCampaign: from === 'utm',
}))

export const campaigns = linesOf(`
  spring_launch brand_search newsletter_42 partner_week retargeting_eu webinar_june product_tour black_friday
  competitor_terms lookalike_us onboarding reactivation year_end feature_report podcast_q2 city_posters beta_waitlist
  case_studies pricing_test conference`).flat()
export const contents = ['', 'hero', 'footer', 'variant_b', 'text_link']

export interface CountryEntry {
  readonly code: string
  readonly language: string
  readonly timezone: string
}

const countryLines = `
  US en-US America/New_York|DE de-DE Europe/Berlin|GB en-GB Europe/London|FR fr-FR Europe/Paris|IN en-IN Asia/Kolkata
  CA en-CA America/Toronto|BR pt-BR America/Sao_Paulo|ES es-ES Europe/Madrid|NL nl-NL Europe/Amsterdam|IT it-IT Europe/Rome
  JP ja-JP Asia/Tokyo|AU en-AU Australia/Sydney|PL pl-PL Europe/Warsaw|MX es-MX America/Mexico_City|SE sv-SE Europe/Stockholm
  AT de-AT Europe/Vienna|CH de-CH Europe/Zurich|TR tr-TR Europe/Istanbul|ID id-ID Asia/Jakarta|KR ko-KR Asia/Seoul
  BE nl-BE Europe/Brussels|PT pt-PT Europe/Lisbon|DK da-DK Europe/Copenhagen|AR es-AR America/Argentina/Buenos_Aires
  UA uk-UA Europe/Kyiv|NO nb-NO Europe/Oslo|FI fi-FI Europe/Helsinki|CZ cs-CZ Europe/Prague|PH en-PH Asia/Manila
  VN vi-VN Asia/Ho_Chi_Minh|TH th-TH Asia/Bangkok|CO es-CO America/Bogota|IE en-IE Europe/Dublin|RO ro-RO Europe/Bucharest
  ZA en-ZA Africa/Johannesburg|IL he-IL Asia/Jerusalem|SG en-SG Asia/Singapore|HU hu-HU Europe/Budapest|GR el-GR Europe/Athens
  CL es-CL America/Santiago|MY ms-MY Asia/Kuala_Lumpur|NZ en-NZ Pacific/Auckland|TW zh-TW Asia/Taipei|HK zh-HK Asia/Hong_Kong
  PK en-PK Asia/Karachi|NG en-NG Africa/Lagos|EG ar-EG Africa/Cairo|SA ar-SA Asia/Riyadh|AE ar-AE Asia/Dubai|PE es-PE America/Lima
  SK sk-SK Europe/Bratislava|BG bg-BG Europe/Sofia|HR hr-HR Europe/Zagreb|KE en-KE Africa/Nairobi|BD bn-BD Asia/Dhaka
  LT lt-LT Europe/Vilnius|SI sl-SI Europe/Ljubljana|EE et-EE Europe/Tallinn|LV lv-LV Europe/Riga|NP ne-NP Asia/Kathmandu`

export const countries: readonly CountryEntry[] = countryLines
  .split(/[|\n]/)
  .flatMap(linesOf)
  .map(([code, language, timezone]) => ({ code: code!, language: language!, timezone: timezone! }))

export interface AgentEntry {
  readonly browser: string
  readonly os: string
  readonly device: number
  readonly screenWidth: number
}

const { desktop, mobile, tablet, other } = devices
/** As the agents of these browsers are read by ingest. */
export const agents: readonly AgentEntry[] = (
  [
    ['Chrome', 'Windows', desktop, 1920],
    ['Chrome', 'Android', mobile, 412],
    ['Safari', 'iOS', mobile, 390],
    ['Chrome', 'macOS', desktop, 1728],
    ['Edge', 'Windows', desktop, 1536],
    ['Safari', 'macOS', desktop, 1440],
    ['Chrome', 'Android', mobile, 360],
    ['Firefox', 'Windows', desktop, 1366],
    ['Safari', 'iOS', mobile, 430],
    ['Samsung Internet', 'Android', mobile, 384],
    ['Chrome', 'Windows', desktop, 2560],
    ['Safari', 'iOS', tablet, 820],
    ['Firefox', 'Linux', desktop, 1920],
    ['Chrome', 'Linux', desktop, 1920],
    ['Opera', 'Windows', desktop, 1600],
    ['Chrome', 'Android', tablet, 800],
    ['Chrome', 'Chrome OS', desktop, 1280],
    ['Firefox', 'Android', mobile, 393],
    ['', '', other, 0],
  ] as const
).map(([browser, os, device, screenWidth]) => ({ browser, os, device, screenWidth }))

const sections = ['blog', 'docs', 'guides', 'products', 'changelog', 'help', 'customers', 'compare']
const subjects = ['measuring-visits', 'first-steps', 'custom-events', 'web-vitals', 'importing-logs', 'releases']
const subjectTitles = ['Measuring visits', 'First steps', 'Custom events', 'Web vitals', 'Qué medir', 'Releases']
const mainPages = [
  ['/', 'Home'],
  ['/pricing', 'Pricing'],
  ['/features', 'Features'],
  ['/signup', 'Sign up'],
  ['/about', 'About us'],
] as const

/** Pages of the largest workspaces; smaller ones have the first of them. */
export const pages: readonly { path: string; title: string }[] = Array.from({ length: 2_000 }, (_, at) => {
  const main = mainPages[at]
  if (main) return { path: main[0], title: main[1] }
  const subject = at % subjects.length
  const section = sections[Math.floor(at / subjects.length) % sections.length]!
  return { path: `/${section}/${subjects[subject]}-${at}`, title: `${subjectTitles[subject]} ${at}` }
})

export const customNames = ['search', 'signup_started', 'video_played', 'add_to_cart', 'plan_compared']
export const conversionNames = ['signup', 'purchase', 'demo_requested', 'newsletter_subscribed']
export const capturedNames = ['link_click', 'button_click', 'outbound_click', 'form_submit']

/** An event of a visit in one number: its kind, and for a web vital this and its metric. */
export const vitalCode = 10
const codes: Readonly<Record<string, number>> = {
  P: kinds.pageview,
  U: kinds.custom,
  A: kinds.autocapture,
  E: kinds.page_leave,
  F: vitalCode + vitalMetrics.FCP,
  L: vitalCode + vitalMetrics.LCP,
  I: vitalCode + vitalMetrics.INP,
  C: vitalCode + vitalMetrics.CLS,
}

/** Scripts of visits, by their number of events: page views, vitals, clicks, and how pages are left. */
export const scripts: readonly (readonly number[])[][] = linesOf(`
  P P P P
  PE PE PA PP
  PAE PEP PFE PUE
  PFLE PEPE PAAE PEPA
  PFLCE PEPAE PFLAE PFLEP
  PFLCIE PFLEPE PAEPAE PFLCAE
  PFLCIEP PFLCEPE PAEPEPE PFLCIAE
  PFLCIEPE PFLEPFLE PAEPFLCE PEPEPUEP
  PFLCIEPAE PFLCEPFLE PUEPFLCIE PEPAEPAEP
  PFLCIEPFLE PFLCEPFLCE PAEPFLCIAE PEPEPEPUEP
  PFLCIEPFLCE PFLCIEPAEPE PUEPFLCEPAE PFLEPFLEPEP
  PFLCIEPFLCIE PFLCIEPFLCAE PAEPAEPFLCUE PEPEPEPFLCIE`).map((row) =>
  row.map((script) => [...script].map((letter) => codes[letter]!)),
)

/** Events of a block: its visits have these numbers of events together, in one of these ways. */
export const blockEvents = 64
export const blockVisits: readonly (readonly number[])[] = [
  [1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 10],
  [1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 9, 11, 12],
  [1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 10, 12],
  [1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 9],
]

function linesOf(text: string): string[][] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => line.split(/\s+/))
}
