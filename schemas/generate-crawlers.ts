/**
 * Makes `generated/crawlers.js`, the table of known crawlers, of the list of the package crawler-user-agents (MIT), which is
 * kept up by many hands. Its patterns become plain texts, by which one look-up finds all candidates; its tags become our
 * categories; the site that it names becomes the operator. `npm run generate` writes it; test/unit/crawlers.test.ts fails
 * where it isn't what the list says.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { getDomain, getHostname } from 'tldts'
import type { BotCategory } from './event/row.ts'
import { operatorNames, reportingSites } from './reference/operators.ts'

interface Listed {
  readonly pattern: string
  readonly url?: string
  readonly instances: readonly string[]
  readonly tags: readonly string[]
}

const packageName = 'crawler-user-agents'
const load = createRequire(import.meta.url)

/** The list as its authors publish it. */
export function listedCrawlers(): readonly Listed[] {
  return load(packageName) as Listed[]
}

/**
 * By the tags of the list; the first of these that a crawler has decides. `null`: programs that anybody's server sends
 * with.
 */
const categoryOfTag: readonly (readonly [tag: string, category: BotCategory | null])[] = [
  ['http-library', null],
  ['ai-crawler', 'ai_training'],
  ['search-engine', 'search'],
  ['social-preview', 'social_preview'],
  ['feed-reader', 'feed'],
  ['archiver', 'archiver'],
  ['monitoring', 'monitoring'],
  ['scanner', 'security'],
  ['seo', 'seo'],
  ['advertising', 'other'],
  ['academic', 'other'],
  ['browser-automation', 'other'],
]

/**
 * Texts for patterns that `textsOf` can't expand. Empty where our own list has the texts, and where a pattern is no
 * crawler's: the build of a phone, an HTTP library.
 */
const written: Readonly<Record<string, readonly string[]>> = {
  'AdsBot-Google([^-]|$)': [],
  '(sistrix|SISTRIX) [cC]rawler': [],
  'Ahrefs(Bot|SiteAudit)': [],
  '(^| )sentry\\/': ['sentry/'],
  'BlogTraffic\\/\\d\\.\\d+ Feed-Fetcher': ['BlogTraffic/'],
  '(^| )PTST\\/': [],
  'ContextualBot[\\s\\S]*outcomes\\.net': ['ContextualBot'],
  'Current[\\s\\S]*RSS Reader': ['currentreader.app'],
  'Spider[\\s\\S]*spider\\.com': ['www.spider.com/'],
  'AP3A\\.240617\\.008': [],
  // Some phones have this model name.
  Expanse: [],
  // Sogou's browsers have its name too.
  Sogou: ['Sogou News Spider', 'Sogou Pic Spider', 'Sogou head spider', 'Sogou inst spider'],
  'Indy Library': [],
}

/** A line of the table: part of the user agent (behind `^` its beginning), name, operator, category. */
type Line = readonly [part: string, name: string, operator: string, category: BotCategory]

/** The text of the generated module. */
export function generateCrawlers(): string {
  const { version, licence } = readPackage()
  const lines = new Map<string, Line>()
  for (const { pattern, url, tags } of listedCrawlers()) {
    const category = categoryOfTag.find(([tag]) => tags.includes(tag))?.[1]
    if (category === undefined) throw new Error(`no category fits the tags of ${pattern}: ${tags.join(', ')}`)
    if (category === null) continue
    for (const part of written[pattern] ?? textsOf(pattern)) {
      if (!lines.has(part)) lines.set(part, [part, nameOf(part), operatorOf(nameOf(part), url), category])
    }
  }
  return [
    '// Made by schemas/generate-crawlers.ts: run `npm run generate`.',
    `// From ${packageName} ${version}, https://github.com/monperrus/crawler-user-agents, under this licence:`,
    ...licence
      .trim()
      .split('\n')
      .map((line) => `// ${line}`.trimEnd()),
    'export const crawlers = [',
    ...[...lines.values()].map((line) => `  ${JSON.stringify(line)},`),
    ']',
    '',
  ].join('\n')
}

/** Parts of the package that it doesn't export. */
function readPackage(): { version: string; licence: string } {
  const read = (file: string) => readFileSync(join(dirname(load.resolve(packageName)), file), 'utf8')
  return { version: (JSON.parse(read('package.json')) as { version: string }).version, licence: read('LICENSE') }
}

/**
 * The texts that a pattern stands for: escapes, choices of letters, alternatives, an anchor at the beginning.
 * @throws Error where it has more than that, so that a newer list can't lose one unnoticed
 */
function textsOf(pattern: string): string[] {
  let texts = ['']
  const done: string[] = []
  const add = (choices: readonly string[]) => {
    texts = texts.flatMap((text) => choices.map((choice) => text + choice))
  }
  for (const token of pattern.match(/\\.|\[[^\]]*\]|[\s\S]/g) ?? []) {
    if (/^\\[^\w]$/.test(token)) add([token[1]!])
    else if (/^\[[A-Za-z]+\]$/.test(token)) add([...token.slice(1, -1)])
    else if (token === '|') {
      done.push(...texts)
      texts = ['']
    } else if (token === '$' && pattern.endsWith('$')) continue
    else if (/^[.*+?()[\]{}\\$]/.test(token)) throw new Error(`${pattern} stands for no plain texts: write some down`)
    else add([token])
  }
  return [...done, ...texts]
}

/** Without the characters that only set it apart from other texts. */
function nameOf(part: string): string {
  return part.replace(/^[\s^;]+|[\s/;(]+$/g, '').replace(/^https?:\/\//, '')
}

function operatorOf(name: string, url: string | undefined): string {
  const domain = url === undefined ? null : getDomain(url)
  const isOwn = domain !== null && ![domain, getHostname(url!)].some((site) => reportingSites.has(site!))
  if (isOwn) return operatorNames.get(domain) ?? domain
  return distinctOperators.find((operator) => name.toLowerCase().startsWith(operator.toLowerCase())) ?? ''
}

/** Who is so called, and nobody else: a crawler whose name begins like that is theirs. */
const distinctOperators = [...new Set(operatorNames.values())].filter((name) => /^\w{5,}$/.test(name))
