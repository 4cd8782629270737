/**
 * The browser script: one text for each tracking key and choice of flags, compressed when it is first asked for and kept.
 * Nothing is stored or read for it but the table of keys. While Postgres can't say whether there is a key, the script is
 * served all the same: what it records waits in the page, and its events are refused if there is no such key.
 *
 * Held by test/integration/browser-script.test.ts.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { etagOf, isKnownEtag } from '../runtime/http/etag.ts'
import type { HttpReply } from '../runtime/http/reply.ts'
import { projectFile } from '../runtime/paths.ts'
import {
  lateScriptMaxAgeSeconds,
  scriptMaxAgeSeconds,
  scriptVariantsMax,
  unsureScriptMaxAgeSeconds,
} from '../schemas/script-limits.ts'
import type { KeyTable } from './keys.ts'

/** What a request for it says: the query without its question mark, and two headers. */
export interface ScriptRequest {
  readonly query: string
  readonly acceptEncoding: string
  readonly ifNoneMatch: string
}

export interface BrowserScriptOptions {
  readonly keys: Pick<KeyTable, 'find' | 'resolve'>
  /** Where events go from a copy of the script that the site serves itself. */
  readonly apiHost: string
}

/** The answer to GET; of HEAD the body is left out by whoever sends it. */
export type BrowserScript = (request: ScriptRequest) => Promise<HttpReply>

interface Prepared {
  readonly text: string
  readonly etag: string
  readonly gzip: Uint8Array
  readonly brotli: Uint8Array
}

const headers = {
  'Content-Type': 'text/javascript; charset=utf-8',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
  'Timing-Allow-Origin': '*',
}
const unknownKeyText = 'console.warn("svc.js: there is no such tracking key, nothing is recorded")\n'

/** Reads the bundles that a build has made. */
export function makeBrowserScript({ keys, apiHost }: BrowserScriptOptions): BrowserScript {
  const main = readFileSync(projectFile('web/generated/svc.js'), 'utf8')
  const lateText = readFileSync(projectFile('web/generated/svc-late.js'), 'utf8')
  const lateVersion = versionOf(lateText)
  const late = prepare(lateText)
  const unknown = prepare(unknownKeyText)
  const variants = new LRUCache<string, Promise<Prepared>>({ max: scriptVariantsMax })
  const textOf = (key: string, flags: readonly number[]) =>
    `${main}(${JSON.stringify([key, `${apiHost}/`, lateVersion, ...flags])})\n`

  function variantOf(key: string, flags: readonly number[]): Promise<Prepared> {
    const name = `${key} ${flags.join('')}`
    let variant = variants.get(name)
    if (variant === undefined) {
      variant = prepare(textOf(key, flags))
      variants.set(name, variant)
      variant.catch(() => variants.delete(name))
    }
    return variant
  }

  return async (request) => {
    const query = new URLSearchParams(request.query)
    const version = query.get('late')
    // Another version is asked for while nodes are being replaced: what both files say to each other doesn't change.
    if (version !== null) {
      return reply(
        await late,
        request,
        version === lateVersion ? `${lateScriptMaxAgeSeconds}, immutable` : scriptMaxAgeSeconds,
      )
    }
    const key = query.get('key') ?? ''
    const consentMode = query.get('require_consent') === 'true' ? 1 : query.get('respect_gpc') === 'false' ? 2 : 0
    const flags = [query.get('autocapture') === 'false' ? 1 : 0, consentMode]
    const workspace = keys.find(key) ?? (await keys.resolve(key))
    if (workspace === 'unknown') return reply(await unknown, request, unsureScriptMaxAgeSeconds)
    // Neither kept nor compressed: anybody can make up keys.
    if (workspace === 'unavailable') {
      const caching = { 'Cache-Control': `public, max-age=${unsureScriptMaxAgeSeconds}`, Vary: 'Accept-Encoding' }
      return { status: 200, headers: { ...headers, ...caching }, body: textOf(key, flags) }
    }
    return reply(await variantOf(key, flags), request, scriptMaxAgeSeconds)
  }
}

async function prepare(text: string): Promise<Prepared> {
  const bytes = Buffer.from(text)
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }
  const [gzipped, brotli] = await Promise.all([
    promisify(gzip)(bytes, { level: 9 }),
    promisify(brotliCompress)(bytes, quality),
  ])
  return { text, etag: etagOf(text), gzip: gzipped, brotli }
}

/** What the second file is asked for by: it changes with the text. */
function versionOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 12)
}

function reply(prepared: Prepared, request: ScriptRequest, maxAge: number | string): HttpReply {
  const all = { ...headers, ETag: prepared.etag, 'Cache-Control': `public, max-age=${maxAge}`, Vary: 'Accept-Encoding' }
  if (isKnownEtag(request.ifNoneMatch, prepared.etag)) return { status: 304, headers: all }
  if (takes(request.acceptEncoding, 'br')) {
    return { status: 200, headers: { ...all, 'Content-Encoding': 'br' }, body: prepared.brotli }
  }
  if (takes(request.acceptEncoding, 'gzip')) {
    return { status: 200, headers: { ...all, 'Content-Encoding': 'gzip' }, body: prepared.gzip }
  }
  return { status: 200, headers: all, body: prepared.text }
}

function takes(acceptEncoding: string, encoding: 'br' | 'gzip'): boolean {
  return new RegExp(`(?:^|[,\\s])${encoding}(?![\\w-])(?!\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$))`, 'i').test(acceptEncoding)
}
