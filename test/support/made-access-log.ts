/** An access log in the shape of a real one, made up by a fixed seed: people with sessions, crawlers, assets, one odd line. */
import { loggedBots } from './logged-bots.ts'
import { makeRandom } from './short-form.ts'

export const madeSite = 'http://www.example.com'

const people = 150
/** Requests of each crawler. */
const requestsMax = 6
const start = Date.UTC(2015, 4, 17, 10, 5, 3)
const day = 86_400_000
const minute = 60_000
const browsers = [
  'Mozilla/5.0 (Windows NT 6.1; WOW64; rv:29.0) Gecko/20100101 Firefox/29.0',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/32.0.1700.77 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 7_1 like Mac OS X) AppleWebKit/537.51.2 (KHTML, like Gecko) Version/7.0 Mobile/11D167 Safari/9537.53',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/34.0.1847.132 Safari/537.36',
  'Opera/9.80 (Windows NT 6.1) Presto/2.12.388 Version/12.16',
]
/** Agents of crawlers that are known by more than one word. */
const agents: Readonly<Record<string, string>> = {
  Nutch: 'nutch crawler/Nutch-1.7',
  'siteexplorer.info': 'Mozilla/5.0 (compatible; SiteExplorer/1.0b; +http://siteexplorer.info/)',
  LiveJournal: 'LiveJournal.com (webmaster@livejournal.com; for http://www.livejournal.com/users/tides/; 1 readers)',
}
const paths = ['/', '/about', '/blog/', ...Array.from({ length: 25 }, (_, at) => `/blog/article-${at}`), '/notes.html']
const assets = ['/style.css', '/favicon.ico', '/images/tide.png', '/scripts/menu.js']
const arrivals = [
  ['', '-'],
  ['', '-'],
  ['', 'http://www.google.com/search?q=tides'],
  ['', 'http://www.google.de/url?sa=t'],
  ['', 'http://duckduckgo.com/'],
  ['', 'http://stackoverflow.com/questions/1/tides'],
  ['', 'http://harbour.example.org/links'],
  ['?utm_source=letter&utm_medium=email', '-'],
] as const
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

export function makeAccessLog(): string {
  const random = makeRandom(1)
  const pick = <One>(from: readonly One[]): One => from[Math.floor(random() * from.length)]!
  const lines: { time: number; text: string }[] = []
  const add = (time: number, address: string, target: string, referrer: string, agent: string) =>
    lines.push({ time, text: lineOf(time, address, target, referrer, agent) })

  for (let person = 0; person < people; person++) {
    const address = `203.0.113.${1 + (person % 120)}`
    const agent = pick(browsers)
    // Over three and a half days, with a day between two sessions.
    for (let time = start + random() * day; time < start + 3.5 * day; time += day / 2 + random() * day) {
      let at = time
      let [query, referrer] = pick(arrivals) as [string, string]
      for (let views = 1 + Math.floor(random() * 4); views > 0; views--) {
        const path = pick(paths)
        add(at, address, path + query, referrer, agent)
        for (const asset of assets.slice(0, Math.floor(random() * 3))) add(at, address, asset, madeSite + path, agent)
        at += (0.1 + random() * 10) * minute
        query = ''
        referrer = madeSite + path
      }
    }
  }
  for (const [name, , part] of loggedBots) {
    const agent = agentOf(name, part)
    for (let count = 1 + Math.floor(random() * requestsMax); count > 0; count--) {
      add(start + random() * 3.5 * day, '198.51.100.7', pick(['/robots.txt', ...paths]), '-', agent)
    }
  }
  lines.sort((one, other) => one.time - other.time)
  const odd = 'this line was cut'
  return `${[...lines.map(({ text }) => text), odd].join('\n')}\n`
}

/** A user agent that the expression fits. */
function agentOf(name: string, part: RegExp): string {
  if (name in agents) return agents[name]!
  const text = part.test(`${name}/`) ? name : part.source.replace(/^\^|\/$/g, '').replaceAll('\\', '')
  return `${text}/1.0`
}

function lineOf(time: number, address: string, target: string, referrer: string, agent: string): string {
  const [date, clock] = new Date(time).toISOString().split(/[T.]/) as [string, string]
  const [year, month, dayOfMonth] = date.split('-') as [string, string, string]
  const when = `${dayOfMonth}/${months[Number(month) - 1]}/${year}:${clock} +0000`
  return `${address} - - [${when}] "GET ${target} HTTP/1.1" 200 1024 "${referrer}" "${agent}"`
}
