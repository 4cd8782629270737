/**
 * The demo site at `/demo/`, on which a newcomer sees the script work. It has the pages of web/demo with the real
 * snippet and the first workspace's public key. It is as strict as a careful site: no inline script or style, nothing
 * from elsewhere. Held by test/integration/demo-site.test.ts and test/browser/demo.test.ts.
 */
import { readFile } from 'node:fs/promises'
import { etagOf, isKnownEtag } from '../../runtime/http/etag.ts'
import { projectFile } from '../../runtime/paths.ts'
import { sleep } from '../../runtime/retry.ts'
import { snippetOf } from '../../schemas/install-snippet.ts'

interface DemoAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface DemoSite {
  /** @param path without its query, `/demo` or below */
  answer(path: string, ifNoneMatch: string | undefined): Promise<DemoAnswer>
}

interface DemoFile {
  readonly name: string
  readonly type: string
  /** The picture is slow on purpose: the page's largest paint waits for it. */
  readonly afterMs?: number
}

const html = 'text/html; charset=utf-8'
const script = 'text/javascript; charset=utf-8'
const slowImageMs = 1_200

const files: Readonly<Record<string, DemoFile>> = {
  '/demo/': { name: 'index.html', type: html },
  '/demo/prices': { name: 'prices.html', type: html },
  '/demo/sign-up': { name: 'sign-up.html', type: html },
  '/demo/site.css': { name: 'site.css', type: 'text/css; charset=utf-8' },
  '/demo/site.js': { name: 'site.js', type: script },
  '/demo/app.js': { name: 'app.js', type: script },
  '/demo/harbour.svg': { name: 'harbour.svg', type: 'image/svg+xml', afterMs: slowImageMs },
}
/** The app draws its own pages: the server gives the same file for each of them. */
const app: DemoFile = { name: 'app.html', type: html }
const appPath = /^\/demo\/app\/[a-z]{0,20}$/

/** Marks the snippet's place in the pages. */
const snippetMark = '<!-- snippet -->'

/** @param scriptUrl the address of the script with the workspace's key; undefined until there is one */
export function makeDemoSite(scriptUrl: () => string | undefined): DemoSite {
  return {
    async answer(path, ifNoneMatch) {
      if (path === '/demo' || path === '/demo/app')
        return plain(307, 'see the path with a slash', { Location: `${path}/` })
      const file = Object.hasOwn(files, path) ? files[path]! : appPath.test(path) ? app : undefined
      if (file === undefined) return plain(404, 'There is no such page in the demo.')
      const address = scriptUrl()
      if (address === undefined) return plain(503, 'The workspace is still being made.', { 'Retry-After': '1' })
      const text = await readFile(projectFile('web/demo', file.name), 'utf8')
      const body = file.type === html ? text.replace(snippetMark, () => snippetOf(address)) : text
      if (file.afterMs !== undefined) await sleep(file.afterMs)
      const etag = etagOf(body)
      const headers = { ...safe(new URL(address).origin), ETag: etag, 'Cache-Control': 'no-cache' }
      if (isKnownEtag(ifNoneMatch, etag)) return { status: 304, headers, body: '' }
      return { status: 200, headers: { ...headers, 'Content-Type': file.type }, body }
    },
  }
}

function plain(status: number, text: string, headers: Record<string, string> = {}): DemoAnswer {
  return {
    status,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store', ...headers },
    body: text,
  }
}

/** The policy of the pages: their own files, and the product's origin for the script and its requests. */
function safe(origin: string): Record<string, string> {
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      `script-src 'self' ${origin}`,
      `connect-src 'self' ${origin}`,
      "style-src 'self'",
      "img-src 'self' data:",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'X-Content-Type-Options': 'nosniff',
  }
}
