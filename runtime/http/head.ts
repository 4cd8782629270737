/**
 * A request's head. The parts that others before us may have read otherwise are checked here: how the body is framed,
 * and which host is meant. Node's parser refuses most of that itself; values are as sent, a character for each byte.
 */
import type { IncomingMessage } from 'node:http'
import { type Refusal, refusals } from './refusals.ts'
import { requestIdOf } from './request-id.ts'

export interface RequestHead {
  /** Upper case. */
  readonly method: string
  /** As sent, from the first slash to the question mark. */
  readonly path: string
  /** The text after the question mark, as sent. */
  readonly query: string
  /** Names in lower case; a repeated one has its values joined by `, `. */
  readonly headers: ReadonlyMap<string, string>
  readonly requestId: string
  /** The connection's own: mostly a balancer's. */
  readonly socketAddress: string
  /** Content-Length; undefined when the body is chunked or there is none. */
  readonly bodyLength: number | undefined
  /** Why the request can't be trusted. */
  readonly fault: Refusal | undefined
  /** The body is compressed, which no route takes. */
  readonly isEncoded: boolean
}

const lengthPattern = /^\d{1,15}$/

export function copyHead({ method = '', url = '', rawHeaders, socket }: IncomingMessage): RequestHead {
  const headers = new Map<string, string>()
  const repeated = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    const before = headers.get(name)
    if (before !== undefined) repeated.add(name)
    headers.set(name, before === undefined ? rawHeaders[at + 1]! : `${before}, ${rawHeaders[at + 1]}`)
  }
  const length = headers.get('content-length')
  const isFramed =
    !repeated.has('transfer-encoding') &&
    (headers.get('transfer-encoding') ?? 'chunked').toLowerCase() === 'chunked' &&
    (length === undefined || lengthPattern.test(length))
  return {
    method,
    ...splitUrl(originForm(url)),
    headers,
    requestId: requestIdOf(headers.get('x-request-id') ?? ''),
    socketAddress: socket.remoteAddress ?? '',
    bodyLength: length === undefined ? undefined : Number(length),
    fault: isFramed ? (repeated.has('host') ? refusals.manyHosts : undefined) : refusals.badFraming,
    isEncoded: (headers.get('content-encoding') ?? 'identity').toLowerCase() !== 'identity',
  }
}

/** A target may name its host, as to a proxy: servers must take that as well (RFC 9112, 3.2.2). */
const absoluteForm = /^https?:\/\/([^/?#]+)/i

/** The target without the host that it may name. */
export function originForm(url: string): string {
  const [named] = absoluteForm.exec(url) ?? ['']
  const rest = url.slice(named.length)
  return rest.startsWith('/') || named === '' ? rest : `/${rest}`
}

/** The host that a target names, with its port; undefined where the `Host` header counts. */
export function hostOfTarget(url: string): string | undefined {
  return absoluteForm.exec(url)?.[1]?.replace(/^.*@/, '')
}

export function splitUrl(url: string): { path: string; query: string } {
  const end = url.indexOf('?')
  return end === -1 ? { path: url, query: '' } : { path: url.slice(0, end), query: url.slice(end + 1) }
}
