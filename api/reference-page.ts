/**
 * The OpenAPI document for machines, and `/docs`, the same for people, shown by Swagger UI from our own origin. A request can be
 * tried there with a key, which the page forgets when it is left. Nothing is loaded from elsewhere, and all of it may be cached.
 * Held by test/integration/reference-page.test.ts.
 */
import { readFile } from 'node:fs/promises'
import { makeStaticBody, type StaticBody, staticReply } from '../runtime/http/compression.ts'
import type { RequestHead } from '../runtime/http/head.ts'
import type { HttpReply } from '../runtime/http/reply.ts'
import { projectFile } from '../runtime/paths.ts'
import type { Operation } from './operations/define.ts'
import { askedBy, type PageSource, staticPages } from './static-pages.ts'
import { makeOpenApi } from './transports/openapi.ts'

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

// Requests go where the page came from, whatever host the document names: the policy lets them go nowhere else.
const script = `const root = new URL('.', document.baseURI).href
fetch(root + 'v1/openapi.json').then((answer) => answer.json()).then((document) => {
  window.SwaggerUIBundle({
    spec: { ...document, servers: [{ url: root.slice(0, -1) }] },
    dom_id: '#reference',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    persistAuthorization: false,
    validatorUrl: null,
  })
})
`

/** Pages frame none of it, and nothing that it loads is another origin's. `data:` is for icons, `blob:` for media that were asked for. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const safe = {
  'Cache-Control': 'public, max-age=3600',
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

/** `npm run build` copies Swagger UI's files there. */
const built = (name: string) => projectFile('dist/web/reference', name)
const fromText = (text: string) => async () => Buffer.from(text)

const sources: Readonly<Record<string, PageSource>> = {
  '/docs': { type: 'text/html; charset=utf-8', read: fromText(page) },
  '/docs/reference.js': { type: 'text/javascript; charset=utf-8', read: fromText(script) },
  '/docs/swagger-ui.js': {
    type: 'text/javascript; charset=utf-8',
    read: () => readFile(built('swagger-ui-bundle.js')),
  },
  '/docs/swagger-ui.css': {
    type: 'text/css; charset=utf-8',
    read: () => readFile(built('swagger-ui.css')),
  },
}

/** The page and what it loads, by path. */
export const referencePages = staticPages(sources, safe)

/** `/v1/openapi.json`. It is made once a host: zod takes milliseconds for it, and anybody may ask. */
export function makeOpenApiPage(operations: readonly Operation[], apiHost: () => string) {
  let made: { host: string; body: Promise<StaticBody> } | undefined
  return async function openApiPage(head: RequestHead): Promise<HttpReply> {
    const host = apiHost()
    if (made?.host !== host) made = { host, body: makeStaticBody(JSON.stringify(makeOpenApi(operations, host))) }
    const about = { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=60' }
    return staticReply(await made.body, askedBy(head), about)
  }
}
