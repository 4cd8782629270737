/** HTML of feeds as plain text: what a reader sees of it, with a break of line for each block. */
import { Parser } from 'htmlparser2'
import { feedDepthMax } from '../../schemas/limits/feed-limits.ts'

const unreadTags = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'figcaption'])
const blockTags = new Set([
  'p',
  'div',
  'br',
  'li',
  'ul',
  'ol',
  'blockquote',
  'pre',
  'figure',
  'table',
  'tr',
  'hr',
  'section',
  'article',
  'header',
  'footer',
  'main',
  'aside',
  'td',
  'th',
  'dt',
  'dd',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
])

export function textOfHtml(html: string): string {
  let [text, unread, depth] = ['', 0, 0]
  const breakAt = (tag: string) => {
    if (blockTags.has(tag)) text += '\n'
  }
  const parser = new Parser({
    onopentag(tag) {
      // The parser's time grows with tags × depth.
      if (++depth > feedDepthMax) return parser.pause()
      if (unreadTags.has(tag)) unread++
      breakAt(tag)
    },
    ontext(part) {
      if (unread === 0) text += part.replace(/\s+/g, ' ')
    },
    onclosetag(tag) {
      depth--
      if (unreadTags.has(tag)) unread--
      breakAt(tag)
    },
  })
  parser.write(html)
  parser.end()
  return text
}

/** @returns lines without blanks at their ends, and no empty ones; without characters that no caption should have */
export function tidyLines(text: string): string {
  return clean(text)
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n')
}

export function oneLine(text: string): string {
  return clean(text).replace(/\s+/g, ' ').trim()
}

/** @param max code points */
export function cut(text: string, max: number): string {
  const points = [...text]
  if (points.length <= max) return text
  return `${points
    .slice(0, max - 1)
    .join('')
    .trimEnd()}…`
}

/** Controls, and marks that turn the direction of the text behind them. */
function clean(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, (mark) => (/\s/.test(mark) ? mark : ''))
}
