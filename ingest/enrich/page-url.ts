/**
 * Reads a page's URL without the cost of a URL object. It finds host, path, campaign parameters, the link and post that
 * were followed, and the click id of an advertising platform. A page is an absolute URL or a path that begins with a slash;
 * any other text is no page. A path begins with exactly one slash, so that a browser that follows it stays on its site.
 */
import { readablePath } from '../../schemas/event/readable-path.ts'
import { identifierLengthMax } from '../../schemas/limits/event-limits.ts'
import { type ClickId, clickIdOf } from '../../schemas/reference/click-ids.ts'

/** Made once and used for every event. Texts are empty where the URL says nothing. */
export interface PageUrl {
  /** Lower case, without port and credentials. */
  host: string
  /** As people read it, without parameters, with the route in the fragment; at least `/` where there is a host. */
  path: string
  /** The URL without the values of click ids. */
  url: string
  source: string
  medium: string
  campaign: string
  content: string
  clickId: ClickId | null
  /** From `svc_link_id` and `svc_post_id`; 0 for none. */
  linkId: number
  postId: number
}

export function makePageUrl(): PageUrl {
  return {
    host: '',
    path: '',
    url: '',
    source: '',
    medium: '',
    campaign: '',
    content: '',
    clickId: null,
    linkId: 0,
    postId: 0,
  }
}

/**
 * Reads `url` into `page`, which holds nothing of the one before. A text that is no page gives an empty page.
 * @param takesBare whether `source` means `utm_source`, and so on
 */
export function readPageUrl(text: string, page: PageUrl, takesBare = true): void {
  const url = isPage(text) ? text : ''
  clearCampaign(page)
  page.url = url
  const pathStart = readHost(url, page)
  const hash = url.indexOf('#', pathStart)
  const end = hash < 0 ? url.length : hash
  const query = url.indexOf('?', pathStart)
  const hasQuery = query >= 0 && query < end
  page.path = pathOf(url, pathStart, hasQuery ? query : end, page.host)
  if (hasQuery) readParameters(url, query + 1, end, page, takesBare)
  if (hash >= 0) {
    page.url = withoutFragmentValues(page.url)
    page.path += routeOf(page.url)
  }
  if (page.path.includes('%') || page.path.includes(' ')) page.path = readablePath(page.path)
}

/**
 * Keeps of the page's campaign, link, post and click id only those that its referrer's URL has too. Bare names such as
 * `source` don't count: sites carry their own from page to page.
 */
export function keepCarried(url: string, referrer: string, page: PageUrl): void {
  if (!url.includes('?')) return
  readPageUrl(url, page, false)
  readPageUrl(referrer, before, false)
  if (page.source !== before.source) page.source = ''
  if (page.medium !== before.medium) page.medium = ''
  if (page.campaign !== before.campaign) page.campaign = ''
  if (page.content !== before.content) page.content = ''
  if (page.clickId !== before.clickId) page.clickId = null
  if (page.linkId !== before.linkId) page.linkId = 0
  if (page.postId !== before.postId) page.postId = 0
}

/** Leaves the page as if its URL named no campaign, link, post or click. */
function clearCampaign(page: PageUrl): void {
  page.source = ''
  page.medium = ''
  page.campaign = ''
  page.content = ''
  page.clickId = null
  page.linkId = 0
  page.postId = 0
}

/** The path that a sender names by itself, without parameters. */
export function namedPath(text: string): string {
  readPageUrl(rooted(text), scratch)
  return scratch.path
}

/** A path that the sender names may lack its slash. */
export function rooted(path: string): string {
  return path === '' || isPage(path) ? path : `/${path}`
}

/** True for no text as well. */
export function isPage(text: string): boolean {
  if (text.startsWith('https://') || text.startsWith('/') || text === '') return true
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]
  return scheme !== undefined && !runsScript.test(scheme)
}
const runsScript = /^(javascript|vbscript|data)$/i

/** The referrer as stored: without the values of click ids, and empty for a URL that would run a script. */
export function keptReferrer(url: string): string {
  return !url.startsWith('http') && leadsToScript(url) ? '' : withoutClickValues(url)
}

/** Browsers skip blanks before a scheme, and tabs and line ends in it. */
function leadsToScript(url: string): boolean {
  const scheme = /^[\0- ]*([a-z][a-z\t\n\r]*):/i.exec(url)?.[1]
  return scheme !== undefined && runsScript.test(scheme.replace(/[\t\n\r]/g, ''))
}

/** The URL without the values of click ids. */
function withoutClickValues(url: string): string {
  const hash = url.indexOf('#')
  const end = hash < 0 ? url.length : hash
  const query = url.indexOf('?')
  const hasQuery = query >= 0 && query < end
  if (hasQuery) readParameters(url, query + 1, end, scratch)
  const kept = hasQuery ? scratch.url : url
  return hash < 0 ? kept : withoutFragmentValues(kept)
}

/** Routers of single-page apps keep parameters in the fragment: `#/a?b=c`, `#b=c`. They name no campaign. */
function withoutFragmentValues(url: string): string {
  const hash = url.indexOf('#')
  if (!url.includes('=', hash)) return url
  const cut = url.slice(hash).replace(fragmentParameter, (all, start: string, name: string) => {
    return clickIdOf(name) === undefined ? all : `${start}${name}=`
  })
  return url.slice(0, hash) + cut
}
const fragmentParameter = /([#?&])([^#?&=]+)=[^#?&]*/g
const scratch = makePageUrl()
const before = makePageUrl()

/** The host of an absolute URL in lower case, without port and credentials; empty for anything else. */
export function hostOf(url: string): string {
  readHost(url, scratch)
  return scratch.host
}

/** @returns where the path begins */
function readHost(url: string, page: PageUrl): number {
  page.host = ''
  const scheme = url.indexOf('://')
  // The first slash is that of the scheme: else it stands in a path or a parameter.
  if (scheme <= 0 || url.indexOf('/') !== scheme + 1) return 0
  const start = scheme + 3
  let end = start
  let isPlain = true
  for (; end < url.length; end++) {
    const code = url.charCodeAt(end)
    if (code === 0x2f || code === 0x3f || code === 0x23) break
    // Upper case, a port, credentials, brackets of IPv6: seldom.
    if ((code >= 0x41 && code <= 0x5b) || code === 0x3a || code === 0x40 || code > 0x7e) isPlain = false
  }
  const authority = url.slice(start, end)
  page.host = isPlain ? authority : hostOfAuthority(authority)
  return end
}

function hostOfAuthority(authority: string): string {
  const host = authority.slice(authority.lastIndexOf('@') + 1).toLowerCase()
  if (host.startsWith('[')) {
    const close = host.indexOf(']')
    return close < 0 ? host.slice(1) : host.slice(1, close)
  }
  const port = host.indexOf(':')
  return port < 0 ? host : host.slice(0, port)
}

function pathOf(url: string, start: number, end: number, host: string): string {
  if (start === end) return host === '' ? '' : '/'
  const second = url.charCodeAt(start + 1)
  // A browser takes two slashes for the begin of a host, of either kind and with blanks between them.
  const isPlain = second > 0x20 && second !== 0x2f && second !== 0x5c
  return isPlain || end - start === 1 ? url.slice(start, end) : url.slice(start, end).replace(/^[/\\\0-\x20]+/, '/')
}

/** Single-page apps keep routes in the fragment: `#/orders`, `#!/orders`. Empty for any other fragment, and for one that names none. */
function routeOf(url: string): string {
  const [, route] = /^[^#]*(#[/!][^?]*)/.exec(url) ?? []
  return route === undefined || /^#[/!]+$/.test(route) ? '' : route
}

/** The parameters that name a campaign; `utm_` wins over the bare name. */
const campaignParameters: ReadonlyMap<string, 'source' | 'medium' | 'campaign' | 'content'> = new Map([
  ['utm_source', 'source'],
  ['utm_medium', 'medium'],
  ['utm_campaign', 'campaign'],
  ['utm_content', 'content'],
])
const bareParameters: ReadonlyMap<string, 'source' | 'medium' | 'campaign' | 'content'> = new Map(
  [...campaignParameters.values()].map((name) => [name, name]),
)

/** Reads the parameters in `url[start, end)`. If one is repeated, the first that isn't empty counts. */
function readParameters(url: string, start: number, end: number, page: PageUrl, takesBare = true): void {
  page.url = url
  let isCut = false
  let kept = ''
  let keptEnd = 0
  const bare = { source: '', medium: '', campaign: '', content: '' }
  for (let at = start; at < end; ) {
    let next = url.indexOf('&', at)
    if (next < 0 || next > end) next = end
    const equals = url.indexOf('=', at)
    if (equals > at && equals < next) {
      const name = url.slice(at, equals)
      const campaign = campaignParameters.get(name)
      const plain = campaign === undefined && takesBare ? bareParameters.get(name) : undefined
      if (campaign !== undefined) page[campaign] ||= decode(url.slice(equals + 1, next))
      else if (plain !== undefined) bare[plain] ||= decode(url.slice(equals + 1, next))
      else if (name === 'svc_link_id') page.linkId ||= idOf(url.slice(equals + 1, next))
      else if (name === 'svc_post_id') page.postId ||= idOf(url.slice(equals + 1, next))
      else {
        const clickId = clickIdOf(name)
        if (clickId !== undefined) {
          if (page.clickId === null || (clickId.isPaid && !page.clickId.isPaid)) page.clickId = clickId
          kept += url.slice(keptEnd, equals + 1)
          keptEnd = next
          isCut = true
        }
      }
    }
    at = next + 1
  }
  page.source ||= bare.source
  page.medium ||= bare.medium
  page.campaign ||= bare.campaign
  page.content ||= bare.content
  if (isCut) page.url = kept + url.slice(keptEnd)
}

/** The id that the text holds; 0 for any other text. */
function idOf(text: string): number {
  const id = /^\d{1,10}$/.test(text) ? Number(text) : 0
  return id <= idMax ? id : 0
}
/** The id's column is a UInt32. */
const idMax = 2 ** 32 - 1

/** A parameter's decoded text, cut to its column's length; undecoded where the encoding is invalid. */
function decode(value: string): string {
  let text = value
  if (text.includes('%') || text.includes('+')) {
    try {
      text = decodeURIComponent(text.replaceAll('+', ' ')).replaceAll('\0', '')
    } catch {
      // Not UTF-8: the text stays as it was sent.
    }
    text = text.trim()
  }
  return text.length <= identifierLengthMax ? text : [...text].slice(0, identifierLengthMax).join('')
}
