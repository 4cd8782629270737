/** The headers of a request as the front hands it on. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { BlockList, isIPv6 } from 'node:net'
import { placeHeadersOf } from '../../runtime/http/place-headers.ts'
import { type Refusal, refusals } from '../../runtime/http/refusals.ts'
import { unparsedRefusals } from '../../runtime/http/unparsed.ts'
import { isEveryAddress } from '../../runtime/loopback.ts'

/**
 * Why a service can't be given such headers: it only sees the first of two hosts, knows no coding of a body but chunks, and may
 * take no more than `max` names. HTTP/1.0 knew no host.
 */
export function refusalOfHead(
  { headers, rawHeaders, httpVersion }: IncomingMessage,
  max = Number.POSITIVE_INFINITY,
): Refusal | undefined {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length
  if (hosts !== 1 && (hosts > 0 || httpVersion !== '1.0')) return refusals.manyHosts
  if ((headers['transfer-encoding'] ?? 'chunked').toLowerCase() !== 'chunked') return refusals.badFraming
  return Object.keys(headers).length > max ? unparsedRefusals.headTooLarge : undefined
}

interface HeaderOptions {
  readonly countryHeader: string
  /** Ranges. */
  readonly trustedProxies: readonly string[]
  /** Where the front listens. */
  readonly host: string
}

/**
 * Makes a function that leaves only headers that the service may believe: the sender's address ends the chain, and only
 * a proxy names a place.
 */
export function makeHeaderPreparer({ countryHeader, trustedProxies, host }: HeaderOptions) {
  const trusted = rangesOf(trustedProxies)
  const isOneAddress = !isEveryAddress(host)
  const placeHeaders = Object.values(placeHeadersOf(countryHeader))

  return ({ headers, socket, httpVersion }: IncomingMessage, response: ServerResponse): void => {
    // Empty where the connection has ended.
    const { remoteAddress: address = '', localAddress } = socket
    // Whoever comes from the one address that is listened on is this machine: nothing listens on loopback then.
    const isHere = isOneAddress && address === localAddress
    // An IPv4 sender on an IPv6 socket.
    const sender = isHere ? '127.0.0.1' : address.replace(/^::ffff:(?=\d+\.)/, '')
    const chain = headers['x-forwarded-for']
    headers['x-forwarded-for'] = chain ? `${chain}, ${sender}` : sender
    if (!isIn(trusted, sender)) for (const name of placeHeaders) delete headers[name]
    // They are about this connection, and Node has answered the last one.
    for (const name of ['connection', 'keep-alive', 'proxy-connection', 'upgrade', 'te', 'trailer', 'expect'])
      delete headers[name]
    // httpxy uses this header to keep or close the sender's connection.
    headers.connection = response.shouldKeepAlive && httpVersion !== '1.0' ? 'keep-alive' : 'close'
  }
}

function rangesOf(texts: readonly string[]): BlockList {
  const ranges = new BlockList()
  for (const text of texts) {
    const [address, bits] = text.split('/') as [string, string | undefined]
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    ranges.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  return ranges
}

function isIn(ranges: BlockList, address: string): boolean {
  return ranges.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}
