/** Signatures of requests by OAuth 1.0a with HMAC-SHA1 (RFC 5849, section 3). */
import { createHmac, randomBytes } from 'node:crypto'

export interface OAuth1Keys {
  readonly apiKey: string
  readonly apiKeySecret: string
  readonly token: string
  readonly tokenSecret: string
}

export interface SignedRequest {
  readonly method: string
  /** Without a query. */
  readonly url: string
  /** Those of the query. Bodies in JSON and forms with files aren't signed. */
  readonly parameters: Readonly<Record<string, string>>
  /** Further fields of the header, such as `oauth_verifier`. */
  readonly more?: Readonly<Record<string, string>>
}

/**
 * The header `Authorization` of one request.
 * @param once an own one for each request; `timestamp` is in seconds since 1970
 */
export function oauth1Header(
  { method, url, parameters, more }: SignedRequest,
  { apiKey, apiKeySecret, token, tokenSecret }: OAuth1Keys,
  once = { nonce: randomBytes(16).toString('hex'), timestamp: Math.floor(Date.now() / 1000) },
): string {
  const own = {
    oauth_consumer_key: apiKey,
    oauth_nonce: once.nonce,
    oauth_signature_method: 'HMAC-SHA1',
    oauth_timestamp: String(once.timestamp),
    // A request for a token has none yet.
    ...(token !== '' && { oauth_token: token }),
    oauth_version: '1.0',
    ...more,
  }
  const base = [method, url, encodeParameters({ ...parameters, ...own })].map(percentEncode).join('&')
  const key = `${percentEncode(apiKeySecret)}&${percentEncode(tokenSecret)}`
  const signature = createHmac('sha1', key).update(base).digest('base64')
  const shown = Object.entries({ ...own, oauth_signature: signature })
  return `OAuth ${shown.map(([name, value]) => `${name}="${percentEncode(value)}"`).join(', ')}`
}

/** As they are signed, and as a query may be written: by name, in the order of bytes. */
export function encodeParameters(parameters: Readonly<Record<string, string>>): string {
  const encoded = Object.entries(parameters).map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`)
  return encoded.sort().join('&')
}

/** RFC 3986: all but letters, digits and `-._~`. */
function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}
