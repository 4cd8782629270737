/** Extracts a company's description from an HTML page: texts by their role, structured data, colours and fonts. */
import { Parser } from 'htmlparser2'
import { exceedsJsonLimits } from '../../schemas/json-body.ts'
import { isObject } from '../../schemas/json-object.ts'
import {
  pageAttributesMax,
  pageDataLengthMax,
  pageDepthMax,
  pageTagsMax,
  pageTextLengthMax,
  pageTextsMax,
  profileUrlLengthMax,
} from '../../schemas/limits/profile-limits.ts'
import { type Looks, readFontAddress, readStyle } from './read-style.ts'

interface Heading {
  readonly level: number
  readonly text: string
  /** List items and smaller headings up to the next heading of this level or a larger one. */
  readonly items: readonly string[]
}

/** Its looks are those of its own styles. */
export interface Page extends Looks {
  readonly title: string
  /** Contents by `name` or `property`, in lower case. */
  readonly meta: ReadonlyMap<string, string>
  readonly headings: readonly Heading[]
  readonly paragraphs: readonly string[]
  /** Texts of buttons, and of links that look like one. */
  readonly actions: readonly string[]
  /** Absolute URLs of links: only the first of each host. */
  readonly links: readonly string[]
  /** Objects of JSON-LD, those of a graph apart. */
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly logo: string | undefined
  /** Style sheets of the site itself, absolute: others' are frameworks that say nothing of a company. */
  readonly styleSheets: readonly string[]
}

const headingTags: Readonly<Record<string, number>> = { h1: 1, h2: 2, h3: 3, h4: 4 }
const textTags = new Set(['title', 'p', 'li', 'a', 'button', ...Object.keys(headingTags)])
/** Nothing of them is read by people. */
const unreadTags = new Set(['script', 'style', 'noscript', 'template', 'svg', 'select', 'textarea'])
/** Where texts lead around the site, and don't tell of it. */
const sideTags = new Set(['nav', 'footer', 'aside', 'form'])
/** Depth of a form directly in `body`. */
const formOfPageDepth = 3
/** Their edges separate words, even without white space in the source. */
const blockTags = new Set([
  ...['address', 'article', 'blockquote', 'br', 'dd', 'div', 'dl', 'dt', 'figcaption', 'figure', 'footer', 'header'],
  ...['hr', 'li', 'ol', 'p', 'pre', 'section', 'table', 'td', 'th', 'tr', 'ul', ...Object.keys(headingTags)],
])
const openMax = 64
/** How much of a text is kept while it is open: longer ones are cut anyway. */
const openTextLengthMax = pageTextLengthMax * 4

interface Open {
  readonly tag: string
  readonly attributes: Readonly<Record<string, string>>
  readonly isAside: boolean
  text: string
}

/**
 * Reads any text as HTML; a text that isn't HTML gives an empty page. One with more tags or attributes than a page
 * needs, or nested deeper, is read up to there. The parser's time grows with tags × depth, and all workspaces would
 * wait.
 */
export function readPage(url: string, html: string): Page {
  const meta = new Map<string, string>()
  const headings: { level: number; text: string; items: string[] }[] = []
  const [paragraphs, actions, links] = [[] as string[], [] as string[], [] as string[]]
  const styleSheets: string[] = []
  const linkedHosts = new Set<string>()
  const data: Record<string, unknown>[] = []
  const [colors, fonts] = [new Map<string, number>(), new Map<string, number>()]
  const open: Open[] = []
  let [title, unread, aside, depth, attributesRead, dataRead, scriptsRead] = ['', 0, 0, 0, 0, 0, 0]
  let special: { kind: 'style' | 'data'; text: string } | undefined
  let logo: string | undefined
  /** Relative addresses begin here. The first element that names one counts. */
  let base: string | undefined

  function close(one: Open): void {
    const text = plain(one.text)
    const { tag, isAside } = one
    const level = headingTags[tag]
    if (tag === 'title') title ||= text
    else if (tag === 'button' || (tag === 'a' && looksLikeButton(one))) add(actions, text)
    else if (isAside || text === '') return
    else if (level !== undefined) {
      for (const larger of openHeadings(headings)) if (larger.level < level) add(larger.items, text)
      if (headings.length < pageTextsMax) headings.push({ level, text, items: [] })
    } else if (tag === 'p') add(paragraphs, text)
    else if (tag === 'li') {
      for (const heading of openHeadings(headings)) add(heading.items, text)
    }
  }

  /** All open texts have it, each within its bound; the innermost has the least. White space is joined once for all. */
  function say(text: string): void {
    const innermost = open.at(-1)
    if (innermost === undefined || innermost.text.length >= openTextLengthMax) return
    const said = text.replace(/\s+/g, ' ').slice(0, openTextLengthMax)
    for (const one of open) if (one.text.length < openTextLengthMax) one.text += said
  }

  /** ASP.NET wraps the whole page in a form directly in `body`. That form isn't beside the text. */
  const isBeside = (tag: string) => sideTags.has(tag) && (tag !== 'form' || depth > formOfPageDepth)

  /** Keeps the first link of each host: large sites have hundreds of internal links before those in the footer. */
  function addLink(link: string): void {
    const { host } = new URL(link)
    if (links.length === pageTextsMax || linkedHosts.has(host)) return
    linkedHosts.add(host)
    links.push(link)
  }

  const parser = new Parser(
    {
      onattribute() {
        if (++attributesRead > pageAttributesMax) parser.pause()
      },
      onopentag(tag, attributes) {
        if (++depth > pageDepthMax) return parser.pause()
        if (tag === 'script' && attributes['type'] === 'application/ld+json') special = { kind: 'data', text: '' }
        if (tag === 'style') special = { kind: 'style', text: '' }
        if (unreadTags.has(tag)) unread++
        if (isBeside(tag)) aside++
        if (attributes['style'] !== undefined) readStyle(attributes['style'], colors, fonts)
        if (tag === 'meta') readMeta(attributes, meta)
        if (tag === 'base') base ??= absolute(attributes['href'], url)
        if (
          tag === 'img' &&
          /logo/i.test(`${attributes['class']} ${attributes['id']} ${attributes['alt']} ${attributes['src']}`)
        ) {
          logo ??= absolute(attributes['src'], base ?? url)
        }
        const link = tag === 'a' ? absolute(attributes['href'], base ?? url) : undefined
        if (link !== undefined) addLink(link)
        if (tag === 'link') {
          readFontAddress(attributes['href'] ?? '', fonts)
          add(styleSheets, ownStyleSheet(attributes, url, base) ?? '')
        }
        if (blockTags.has(tag) && unread === 0) say(' ')
        if (textTags.has(tag) && unread === 0 && open.length < openMax) {
          open.push({ tag, attributes, isAside: aside > 0 && tag !== 'title', text: '' })
        }
      },
      ontext(text) {
        if (special !== undefined) special.text += text
        else if (unread === 0) say(text)
      },
      onclosetag(tag) {
        if (isBeside(tag)) aside--
        depth--
        if (special !== undefined && (tag === 'style' || tag === 'script')) {
          if (special.kind === 'style') readStyle(special.text, colors, fonts)
          else {
            dataRead += special.text.length
            if (dataRead <= pageDataLengthMax && ++scriptsRead <= pageTextsMax) readData(special.text, data)
          }
          special = undefined
        }
        if (unreadTags.has(tag)) unread--
        const at = open.findLastIndex((one) => one.tag === tag)
        if (at >= 0) for (const one of open.splice(at).reverse()) close(one)
        if (blockTags.has(tag) && unread === 0) say(' ')
      },
    },
    { decodeEntities: true },
  )
  parser.write(firstTags(html))
  parser.end()
  // A parser that was stopped closes nothing.
  for (const one of open.reverse()) close(one)
  return { url, title, meta, headings, paragraphs, actions, links, data, logo, styleSheets, colors, fonts }
}

/** Up to the bound of tags. Each begins with a `<`, the closing ones that have no opening one too. */
function firstTags(html: string): string {
  let at = -1
  for (let tags = 0; tags <= pageTagsMax; tags++) {
    at = html.indexOf('<', at + 1)
    if (at < 0) return html
  }
  return html.slice(0, at)
}

/** Those under which a text stands now: the last one, and each before it that is larger than all that came after it. */
function openHeadings<Leveled extends { readonly level: number }>(headings: readonly Leveled[]): Leveled[] {
  const open: Leveled[] = []
  for (let at = headings.length - 1; at >= 0 && open.at(-1)?.level !== 1; at--) {
    if (headings[at]!.level < (open.at(-1)?.level ?? Number.POSITIVE_INFINITY)) open.push(headings[at]!)
  }
  return open
}

/** Adds each text once, up to `pageTextsMax` of them. */
function add(texts: string[], text: string): void {
  if (text !== '' && texts.length < pageTextsMax && !texts.includes(text)) texts.push(text)
}

/** One line; longer texts end in `…`. */
function plain(text: string): string {
  const line = (/[^\S ]| {2}/.test(text) ? text.replace(/\s+/g, ' ') : text).trim()
  return line.length > pageTextLengthMax ? `${line.slice(0, pageTextLengthMax - 1).trimEnd()}…` : line
}

function looksLikeButton({ attributes }: Open): boolean {
  return (
    attributes['role'] === 'button' ||
    /\b(btn|button|cta)\b/i.test((attributes['class'] ?? '').replaceAll(/[-_]/g, ' '))
  )
}

/** Undefined for what is no address of the web, or too long. The bound is on the base, too: it is read anew for each address. */
function absolute(address: string | undefined, base: string): string | undefined {
  if (address === undefined || Math.max(address.length, base.length) > profileUrlLengthMax) return undefined
  if (!URL.canParse(address, base)) return undefined
  const { protocol, href } = new URL(address, base)
  return protocol === 'http:' || protocol === 'https:' ? href : undefined
}

function ownStyleSheet(attributes: Readonly<Record<string, string>>, page: string, base = page): string | undefined {
  const relations = (attributes['rel'] ?? '').toLowerCase().split(/\s+/)
  const isShown =
    relations.includes('stylesheet') && !relations.includes('alternate') && attributes['media'] !== 'print'
  const address = isShown ? absolute(attributes['href'], base) : undefined
  if (address === undefined) return undefined
  const site = new URL(page).hostname.replace(/^www\./, '')
  const { hostname } = new URL(address)
  return hostname === site || hostname.endsWith(`.${site}`) ? address : undefined
}

function readMeta(attributes: Readonly<Record<string, string>>, meta: Map<string, string>): void {
  const name = (attributes['property'] ?? attributes['name'] ?? '').toLowerCase()
  const sent = (attributes['content'] ?? '').trim()
  // A cut URL would be broken, so URLs are kept whole.
  const isAddress = /^https?:\/\/\S+$/i.test(sent) && sent.length <= profileUrlLengthMax
  const content = isAddress ? sent : plain(sent)
  if (name !== '' && content !== '' && !meta.has(name) && meta.size < pageTextsMax) meta.set(name, content)
}

function readData(text: string, data: Record<string, unknown>[]): void {
  if (exceedsJsonLimits(text)) return
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // A text that isn't JSON says nothing.
    return
  }
  for (const one of Array.isArray(value) ? value : [value]) {
    for (const node of isObject(one) && Array.isArray(one['@graph']) ? one['@graph'] : [one]) {
      if (data.length >= pageTextsMax) return
      if (isObject(node)) data.push(node)
    }
  }
}
