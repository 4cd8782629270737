/**
 * The guides of docs/: pages for people at `/guides` and `/guides/NAME`, markdown for programs at `/guides/NAME.md`. Both
 * addresses of pages give markdown too, to clients that prefer it. Its index is `/llms.txt` (https://llmstxt.org).
 * Held by test/contract/guides.test.ts.
 */
import { readFile } from 'node:fs/promises'
import { acceptedWeights } from '../runtime/http/accept.ts'
import { projectFile } from '../runtime/paths.ts'
import { escapeHtml } from '../schemas/escape-html.ts'
import { type GuideList, guideHtml, guideIndexHtml, guideStyle } from './guides-page.ts'
import { type PageSource, type StaticPage, staticPages } from './static-pages.ts'

/** By section: the file's name without `.md`, and what one finds in it. */
export const guides: GuideList = {
  Begin: {
    'how-to': 'Common tasks, each with its page: a second site, proxies, backups, keys, another machine',
    tour: 'Events, a post from draft to published, a tracked link and a payment, by curl',
    tracking: 'Send events of websites and servers, one or many; all fields and refusals',
    install: 'Where the snippet goes: site builders, frameworks, tag managers, under your own address',
    browser: 'The script of pages: what it sends by itself, calls, consent, single-page apps',
    api: 'Keys, scopes, limits, retries and errors of the REST API; all operations',
    mcp: 'Connect MCP clients: the address, headers, errors',
    'mcp-tools': 'Every MCP tool with a call and its answer',
  },
  Topics: {
    dashboard: 'Pages for members: figures, posts, links and settings; sign-in, roles, reports and alerts',
    metrics: 'What each figure of the analytics overview means',
    people: 'Contacts, their browsers and journeys; how people are merged and erased',
    'company-profile': 'What the service knows of your company, and what it is made of',
    posts: 'Write, schedule and publish posts to social accounts',
    media: 'Upload images and films, and read them back',
    replay: 'Record sessions, with all texts masked; read and play them',
    links: 'Make tracked short links, and count their clicks',
    revenue: 'Take payments in from Stripe, Paddle, Lemon Squeezy and other senders',
    webhooks: 'Receive changes: registration, signatures, retries, redelivery',
    bots: 'Report crawlers, and read what they visited',
    'search-console': 'Connect Google Search Console, and read the search terms of a site',
    audit: 'Who changed what, and how to verify it',
    retention: 'What is kept, for how long, and how it is erased',
  },
  Optional: {
    import: 'Bring in history: your own events, or those of other products',
    cli: 'The commands of the operator',
    settings: 'All settings of the services',
    operations: 'Run it: metrics, backups, what to do when a store is away',
  },
}

const names = Object.values(guides).flatMap((section) => Object.keys(section))
const markdown = 'text/markdown; charset=utf-8'
const html = 'text/html; charset=utf-8'

/** No script runs, and nothing that a page loads is another origin's. `data:` is for the icon. */
const policy = [
  "default-src 'none'; style-src 'self'; img-src data:",
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
]

const headers = {
  'Cache-Control': 'public, max-age=3600',
  'Content-Security-Policy': policy.join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Access-Control-Allow-Origin': '*',
}

function indexText(): string {
  const sections = Object.entries(guides).map(
    ([title, section]) =>
      `## ${title}\n\n${Object.entries(section)
        .map(([name, about]) => `- [${name}](/guides/${name}.md): ${about}`)
        .join('\n')}\n`,
  )
  const summary =
    "> A workspace's web analytics, people, posts, links and revenue, behind one tracking endpoint, a REST API and MCP."
  const api = 'The OpenAPI document is at [/v1/openapi.json](/v1/openapi.json), the MCP endpoint at `POST /mcp`.'
  return ['# svc', summary, api, ...sections].join('\n\n')
}

/** Where the examples of docs/ ask, which run against `npm start` as it is. */
const exampleRoot = 'http://localhost:8080'

/** A guide as it is served. Links to files that aren't served become plain text. */
async function readGuide(name: string, root: string): Promise<Buffer> {
  const text = await readFile(projectFile('docs', `${name}.md`), 'utf8')
  return Buffer.from(text.replace(/\[([^\]]+)\]\(\.\.\/[^)]*\)/g, '$1').replaceAll(exampleRoot, () => root))
}

async function readPage(name: string, root: string): Promise<Buffer> {
  const text = (await guideHtml(guides, name)).toString()
  return Buffer.from(text.replaceAll(exampleRoot, () => escapeHtml(root)))
}

const index = async () => Buffer.from(indexText())

function byName(path: (name: string) => string, source: (name: string) => PageSource) {
  return Object.fromEntries(names.map((name): [string, PageSource] => [path(name), source(name)]))
}

/** A page, or the markdown of it for clients that prefer that. */
function negotiated(page: StaticPage, text: StaticPage): StaticPage {
  return async (head) => {
    const weights = acceptedWeights(head.headers.get('accept'))
    const ofText = weights.get('text/markdown') ?? 0
    const isText = ofText > 0 && ofText >= (weights.get('text/html') ?? 0)
    const reply = await (isText ? text : page)(head)
    return { ...reply, headers: { ...reply.headers, Vary: 'Accept, Accept-Encoding' } }
  }
}

/** All of them, by path. @param root where the world reaches the product: examples ask there */
export function makeGuidePages(root: () => string): Readonly<Record<string, StaticPage>> {
  const asMarkdown = staticPages(
    {
      '/guides': { type: markdown, read: index },
      '/llms.txt': { type: 'text/plain; charset=utf-8', read: index },
      ...byName(
        (name) => `/guides/${name}.md`,
        (name) => ({ type: markdown, read: () => readGuide(name, root()) }),
      ),
    },
    headers,
  )
  const asPages = staticPages(
    {
      '/guides': { type: html, read: () => guideIndexHtml(guides) },
      ...byName(
        (name) => `/guides/${name}`,
        (name) => ({ type: html, read: () => readPage(name, root()) }),
      ),
    },
    headers,
  )
  return {
    ...asMarkdown,
    ...Object.fromEntries(
      Object.entries(asPages).map(([path, page]) => [
        path,
        negotiated(page, asMarkdown[path] ?? asMarkdown[`${path}.md`]!),
      ]),
    ),
    ...staticPages({ '/guides/style.css': { type: 'text/css; charset=utf-8', read: guideStyle } }, headers),
  }
}
