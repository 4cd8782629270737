/**
 * The browser script: one text for each tracking key and choice of flags, compressed on first use and cached. Only the
 * table of keys is read for it. While Postgres can't say whether a key exists, the script is served all the same. Its
 * events wait in the page, and are refused if there is no such key.
 *
 * Held by test/integration/browser-script.test.ts.
 */
import { readFileSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import { makeStaticBody, type StaticBody, type StaticRequest, staticReply } from '../../runtime/http/compression.ts'
import { textVersion } from '../../runtime/http/etag.ts'
import type { HttpReply } from '../../runtime/http/reply.ts'
import { projectFile } from '../../runtime/paths.ts'
import { downloadsBit, notFoundBit, ownClicksBit, searchBit } from '../../schemas/event/measurement-bits.ts'
import {
  lateScriptMaxAgeSeconds,
  scriptMaxAgeSeconds,
  scriptVariantsMax,
  unsureScriptMaxAgeSeconds,
} from '../../schemas/limits/script-limits.ts'
import type { KeyTable } from '../tables/tracking-key-table.ts'

interface ScriptRequest extends StaticRequest {
  /** Without its question mark. */
  readonly query: string
}

export interface BrowserScriptOptions {
  readonly keys: Pick<KeyTable, 'find' | 'resolve'>
  /** Where events go from a copy of the script that the site serves itself. */
  readonly apiHost: string
}

/** The answer to GET; for HEAD the sender leaves out the body. */
export type BrowserScript = (request: ScriptRequest) => Promise<HttpReply>

const headers = {
  'Content-Type': 'text/javascript; charset=utf-8',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
  'Timing-Allow-Origin': '*',
}
/**
 * HTML takes the beginning of `&not_found` for a name of the sign ¬. A snippet as people write it so arrives with this
 * sign: in UTF-8, in an older encoding of one byte, or as a reference by number in others.
 */
const writtenNot = /%(?:C2%AC|AC|26%23172%3B)_found=/gi
const unknownKeyText = 'console.warn("svc.js: there is no such tracking key, nothing is recorded")\n'

/** Reads the bundles that a build has made. */
export function makeBrowserScript({ keys, apiHost }: BrowserScriptOptions): BrowserScript {
  const main = readFileSync(projectFile('web/generated/svc.js'), 'utf8')
  const lateText = readFileSync(projectFile('web/generated/svc-late.js'), 'utf8')
  const optionalText = readFileSync(projectFile('web/generated/svc-optional.js'), 'utf8')
  /** The second file has two forms: `optional` measures what `late` does, and what a page's flags ask for. */
  const late = { version: textVersion(lateText), body: makeStaticBody(lateText) }
  // The version is cut, since the address carries the flags too, and the first file has no byte to spare.
  const optional = { version: textVersion(optionalText).slice(0, 4), body: makeStaticBody(optionalText) }
  const replayText = readFileSync(projectFile('web/generated/svc-replay.js'), 'utf8')
  const replayVersion = textVersion(replayText)
  /** Compressed when it is asked for: replay is off in most workspaces. */
  let replay: Promise<StaticBody> | undefined
  const unknown = makeStaticBody(unknownKeyText)
  const variants = new LRUCache<string, Promise<StaticBody>>({ max: scriptVariantsMax })
  /** The second file learns by its address what to measure and whether to fetch the third: the first has no room for more. */
  const textOf = (key: string, { chosen, numbers }: Flags, share: number) => {
    const version = chosen === 0 ? late.version : `${optional.version}.${chosen.toString(16)}`
    const address = `svc.js?late=${version}${share === 0 ? '' : `&${share}=${key}`}#`
    return `${main}(${JSON.stringify([key, `${apiHost}/`, address, ...numbers])})\n`
  }

  function variantOf(key: string, flags: Flags, share: number): Promise<StaticBody> {
    const name = `${key} ${flags.numbers.join('')} ${flags.chosen} ${share}`
    let variant = variants.get(name)
    if (variant === undefined) {
      variant = makeStaticBody(textOf(key, flags, share))
      variants.set(name, variant)
      variant.catch(() => variants.delete(name))
    }
    return variant
  }

  return async (request) => {
    const query = new URLSearchParams(request.query.replaceAll(writtenNot, '&not_found='))
    const asked = query.get('late')
    if (asked !== null) {
      const { version, body } = asked.includes('.') ? optional : late
      // Another version is asked for while nodes are being replaced: the interface between both files doesn't change.
      return reply(await body, request, ageOf(asked.split('.')[0] === version))
    }
    const recorder = query.get('replay')
    if (recorder !== null) {
      replay ??= makeStaticBody(replayText)
      return reply(await replay, request, ageOf(recorder === replayVersion))
    }
    const key = query.get('key') ?? ''
    const flags = flagsOf(query)
    const workspace = keys.find(key) ?? (await keys.resolve(key))
    if (workspace === 'unknown') return reply(await unknown, request, unsureScriptMaxAgeSeconds)
    // Not kept, as anybody can make up keys: it is compressed for each answer, quickly.
    if (workspace === 'unavailable') {
      const caching = { 'Cache-Control': `public, max-age=${unsureScriptMaxAgeSeconds}`, Vary: 'Accept-Encoding' }
      return { status: 200, headers: { ...headers, ...caching }, body: textOf(key, flags, 0) }
    }
    return reply(await variantOf(key, flags, workspace.replayShare), request, scriptMaxAgeSeconds)
  }
}

interface Flags {
  /** As the first file takes them: whether autocapture is off, and its mode of consent. */
  readonly numbers: readonly [number, number]
  /** As the second file takes them, in bits; 0: vitals and clicks alone. */
  readonly chosen: number
}

const bits = { downloads: downloadsBit, not_found: notFoundBit, search: searchBit }

function flagsOf(query: URLSearchParams): Flags {
  const consentMode = query.get('require_consent') === 'true' ? 1 : query.get('respect_gpc') === 'false' ? 2 : 0
  const isAutocaptureOff = query.get('autocapture') === 'false'
  let chosen = 0
  for (const [name, bit] of Object.entries(bits)) if (query.get(name) === 'true') chosen += bit
  if (isAutocaptureOff && (chosen & downloadsBit) > 0) chosen += ownClicksBit
  return { numbers: [isAutocaptureOff ? 1 : 0, consentMode], chosen }
}

/** The addresses of the second and third file carry a version of their content. */
function ageOf(isCurrent: boolean): number | string {
  return isCurrent ? `${lateScriptMaxAgeSeconds}, immutable` : scriptMaxAgeSeconds
}

function reply(body: StaticBody, request: ScriptRequest, maxAge: number | string): HttpReply {
  return staticReply(body, request, { ...headers, 'Cache-Control': `public, max-age=${maxAge}` })
}
