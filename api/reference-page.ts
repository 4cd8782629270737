/**
 * The OpenAPI document for machines, and `/docs`, the same for people, shown by Swagger UI from our own origin. Nothing is loaded
 * from elsewhere, no request is tried out from it (a secret key does not belong in a browser), and all of it may be cached.
 * Held by test/integration/reference-page.test.ts.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { etagOf, isKnownEtag } from '../runtime/http/etag.ts'
import type { RequestHead } from '../runtime/http/head.ts'
import { type HttpReply, jsonReply } from '../runtime/http/reply.ts'
import type { Operation } from './operations/define.ts'
import { makeOpenApi } from './transports/openapi.ts'

const compress = promisify(gzip)

// Relative, so that it works behind a proxy that serves us under another path.
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Customer API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="docs/swagger-ui.js"></script>
<script src="docs/reference.js"></script>
</body>
</html>
`

const script = `window.SwaggerUIBundle({
  url: new URL('v1/openapi.json', document.baseURI).href,
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  supportedSubmitMethods: [],
  validatorUrl: null,
})
`

/** Pages frame none of it, and nothing that it loads is another origin's. `data:` is for the icons in the style sheet. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

interface Source {
  readonly type: string
  read(): Promise<Buffer>
}

const fromText = (text: string) => async () => Buffer.from(text)

const sources: Readonly<Record<string, Source>> = {
  '/docs': { type: 'text/html; charset=utf-8', read: fromText(page) },
  '/docs/reference.js': { type: 'text/javascript; charset=utf-8', read: fromText(script) },
  '/docs/swagger-ui.js': {
    type: 'text/javascript; charset=utf-8',
    read: () => readFile(createRequire(import.meta.url).resolve('swagger-ui-dist/swagger-ui-bundle.js')),
  },
  '/docs/swagger-ui.css': {
    type: 'text/css; charset=utf-8',
    read: () => readFile(createRequire(import.meta.url).resolve('swagger-ui-dist/swagger-ui.css')),
  },
}

/** The page and what it loads, by path. Each is read when it is first asked for, and kept. */
export const referencePages: Readonly<Record<string, (head: RequestHead) => Promise<HttpReply>>> = Object.fromEntries(
  Object.entries(sources).map(([path, source]) => {
    let prepared: ReturnType<typeof prepare> | undefined
    return [
      path,
      async (head: RequestHead) => {
        prepared ??= prepare(source)
        return replyTo(head, await prepared)
      },
    ]
  }),
)

async function prepare({ type, read }: Source) {
  const body = await read()
  return { type, body, gzipped: await compress(body), etag: etagOf(body) }
}

/** `/v1/openapi.json`. It is made once a host: zod takes milliseconds for it, and anybody may ask. */
export function makeOpenApiPage(operations: readonly Operation[], apiHost: () => string) {
  let made: { host: string; etag: string; reply: HttpReply } | undefined
  return function openApiPage(head: RequestHead): HttpReply {
    const host = apiHost()
    if (made?.host !== host) {
      const { headers, ...reply } = jsonReply(200, makeOpenApi(operations, host))
      const etag = etagOf(String(reply.body))
      made = {
        host,
        etag,
        reply: { ...reply, headers: { ...headers, ETag: etag, 'Cache-Control': 'public, max-age=60' } },
      }
    }
    return isKnownEtag(head.headers.get('if-none-match'), made.etag)
      ? { status: 304, headers: { ETag: made.etag } }
      : made.reply
  }
}

function replyTo(head: RequestHead, { type, body, gzipped, etag }: Awaited<ReturnType<typeof prepare>>): HttpReply {
  const headers = { ETag: etag, 'Cache-Control': 'public, max-age=3600', Vary: 'Accept-Encoding' }
  if (isKnownEtag(head.headers.get('if-none-match'), etag)) return { status: 304, headers }
  const safe = {
    'Content-Security-Policy': policy,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  }
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0+)?\s*(?:,|$))/.test(head.headers.get('accept-encoding') ?? '')
  return {
    status: 200,
    headers: { 'Content-Type': type, ...headers, ...safe, ...(takesGzip && { 'Content-Encoding': 'gzip' }) },
    body: takesGzip ? gzipped : body,
  }
}
