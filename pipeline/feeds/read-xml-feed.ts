/** Feeds of RSS and Atom, read event by event. */
import { Parser } from 'htmlparser2'
import {
  feedAttributesMax,
  feedDepthMax,
  feedEntriesMax,
  feedFieldLengthMax,
} from '../../schemas/limits/feed-limits.ts'
import { absolute } from './absolute.ts'
import { FeedRefused } from './fetch-feed.ts'
import type { SentEntry, SentFeed, SentText } from './read-feed.ts'
import { sentTime } from './sent-time.ts'

type Attributes = Readonly<Record<string, string>>

/** A text of an entry, or of the feed itself, that is being read. */
interface Field {
  readonly name: string
  /** Number of open elements, itself included. */
  readonly depth: number
  readonly attributes: Attributes
  text: string
}

/** Texts by the names of their elements; the first of a name counts. */
type Texts = Map<string, SentText>

interface OpenEntry {
  readonly depth: number
  /** Its name by `about` of RDF; empty elsewhere. */
  readonly about: string
  readonly texts: Texts
  /** An Atom entry's own page, or the same as JSON or whatever else it names. */
  link: string
  isPage: boolean
  isPermalink: boolean
}

const roots = new Set(['rss', 'feed', 'rdf:rdf'])
const fieldNames = new Set([
  'title',
  'link',
  'guid',
  'id',
  'description',
  'summary',
  'content',
  'content:encoded',
  'dc:creator',
  'author',
  'name',
  'pubdate',
  'dc:date',
  'published',
  'updated',
])

/** @returns null where it is none */
export function readXmlFeed(xml: string, url: string): SentFeed | null {
  const open: { readonly name: string; readonly base: string }[] = []
  const entries: SentEntry[] = []
  const ofFeed: Texts = new Map()
  let [isFeed, isAtom] = [false, false]
  let entry: OpenEntry | null = null
  let field: Field | null = null

  function opened(name: string, attributes: Attributes): void {
    const parent = open.at(-1)
    const above = parent?.base ?? url
    open.push({ name, base: absolute(attributes['xml:base'] ?? '', above) || above })
    if (open.length > feedDepthMax) throw new FeedRefused(`The feed has more than ${feedDepthMax} levels`)
    if (parent === undefined) {
      isFeed = roots.has(name)
      isAtom = name === 'feed'
      if (!isFeed) parser.pause()
    }
    if (field !== null) {
      // Markup within a text, as in XHTML.
      if (!isAtom || field.attributes['type'] === 'xhtml') field.text += ' '
      return
    }
    if (entry === null && (name === 'item' || name === 'entry')) {
      if (entries.length === feedEntriesMax) return parser.pause()
      const about = attributes['rdf:about'] ?? ''
      entry = { depth: open.length, about, texts: new Map(), link: '', isPage: false, isPermalink: false }
      return
    }
    if (!fieldNames.has(name) || !isOwn(name, parent?.name)) return
    if (name === 'link' && attributes['href'] !== undefined) return openedLink(attributes)
    // An author of Atom has a name within.
    if (name === 'author' && isAtom) return
    field = { name, depth: open.length, attributes, text: '' }
  }

  /** Whether the element belongs to the entry, or to the feed, and not to an image or a source in it. */
  function isOwn(name: string, parent: string | undefined): boolean {
    if (entry === null) return parent === 'channel' || parent === 'feed' || (name === 'name' && parent === 'author')
    return name === 'name' ? parent === 'author' && open.length === entry.depth + 2 : open.length === entry.depth + 1
  }

  function openedLink({ href = '', rel = 'alternate', type = 'text/html' }: Attributes): void {
    if (entry === null || rel !== 'alternate') return
    const link = absolute(href, open.at(-1)!.base)
    const isPage = type === 'text/html'
    // The first page, or else the first of what there is in its place.
    if (link !== '' && (entry.link === '' || (isPage && !entry.isPage))) Object.assign(entry, { link, isPage })
  }

  function closed(): void {
    const { base } = open.pop()!
    if (field !== null && open.length < field.depth) {
      const { name, attributes, text } = field
      const texts = entry?.texts ?? ofFeed
      if (entry !== null && name === 'guid') entry.isPermalink = attributes['ispermalink'] !== 'false'
      if (!texts.has(name)) texts.set(name, { text: text.trim(), isHtml: isHtml(attributes) })
      field = null
    }
    if (entry !== null && open.length < entry.depth) {
      entries.push(entryOf(entry, base))
      entry = null
    }
  }

  /** Texts of RSS are HTML by custom; those of Atom say so. */
  function isHtml({ type = 'text' }: Attributes): boolean {
    return !isAtom || type === 'html' || type === 'text/html'
  }

  function entryOf({ texts, about, link: atomLink, isPermalink }: OpenEntry, base: string): SentEntry {
    const text = (...names: readonly string[]) => names.map((name) => texts.get(name)?.text ?? '').find(Boolean) ?? ''
    const whole = (...names: readonly string[]) =>
      names.map((name) => texts.get(name)).find((one) => one !== undefined && one.text !== '') ?? nothing
    const guid = text('guid')
    return {
      id: guid || text('id') || about,
      link:
        atomLink || absolute(text('link'), base) || (isPermalink && /^https?:/.test(guid) ? absolute(guid, base) : ''),
      title: whole('title'),
      summary: whole('description', 'summary', 'content:encoded', 'content'),
      author: nameIn(text('dc:creator', 'name', 'author')) || nameIn(ofFeed.get('name')?.text ?? ''),
      publishedAt: sentTime(text('pubdate', 'published', 'dc:date', 'updated')),
    }
  }

  let attributesOfTag = 0
  const parser = new Parser(
    {
      onopentagname() {
        attributesOfTag = 0
      },
      // The parser keeps those of a tag together until it ends: very many hold up the process.
      onattribute() {
        if (++attributesOfTag > feedAttributesMax) throw new FeedRefused('A tag of the feed has too many attributes')
      },
      onopentag: (name, attributes) => opened(name, attributes),
      ontext(text) {
        if (field !== null && field.text.length < feedFieldLengthMax) {
          field.text += text.slice(0, feedFieldLengthMax)
        }
      },
      onclosetag: closed,
    },
    { xmlMode: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  )
  parser.write(xml)
  // One that was stopped has entries enough.
  parser.end()
  return isFeed ? { title: ofFeed.get('title') ?? nothing, entries } : null
}

const nothing: SentText = { text: '', isHtml: false }

/**
 * RSS has an address, with the name in brackets behind it: nobody wants to see the address in a post. Without a regular expression
 * that goes back: over texts made for it, one would take hours.
 */
function nameIn(author: string): string {
  if (isMailAddress(author)) return ''
  const [address = ''] = author.split('(', 1)
  const name = author.endsWith(')') ? author.slice(address.length + 1, -1) : ''
  return name !== '' && isMailAddress(address.trimEnd()) ? name : author
}

function isMailAddress(text: string): boolean {
  return !/\s/.test(text) && text.slice(1, -1).includes('@')
}
