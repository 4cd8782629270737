/**
 * Connections to hosts that customers name, and never into our own network. For webhooks, and for every other fetch of
 * a URL that a customer gave.
 *
 * A host is resolved here, and every address that it has must be public. The socket may connect to these addresses
 * alone, so no second look-up can answer differently. Literal addresses skip look-ups in Node, so they are checked
 * apart, and so is the address at the socket's other end. The agent follows no redirects: callers that do ask for the
 * next URL through the same agent.
 *
 * Held by test/integration/outbound-guard.test.ts.
 */
import { lookup as lookUpOnMachine } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { isIP, isIPv6, type LookupFunction } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { isPublicAddress } from './public-address.ts'

/** The host has no address that may be connected to. The text is the same for whatever reason, so that nobody maps our network by it. */
export class TargetRefused extends Error {
  override name = 'TargetRefused'
  constructor() {
    super('The host has no public address')
  }
}

export interface GuardedAgentOptions {
  /** For development and tests: addresses of this machine and of private networks are targets as well. */
  readonly allowPrivate: boolean
  /** Deadline for reaching the host, TLS included. */
  readonly connectMs: number
  /** Name servers in place of the machine's. */
  readonly dnsServers?: readonly string[]
}

/** Deadline of one question to a name server, which is asked twice. */
const dnsTryMs = 2_000
const dnsTries = 2

export function makeGuardedAgent({ allowPrivate, connectMs, dnsServers }: GuardedAgentOptions): Agent {
  const lookup = allowPrivate ? lookUpOnMachine : makePublicLookup(dnsServers)
  const connectFreely = buildConnector({ timeout: connectMs, lookup })
  const connect: buildConnector.connector = (options, done) => {
    const host = options.hostname.replace(/^\[|\]$/g, '')
    if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) return done(new TargetRefused(), null)
    connectFreely(options, (...[error, socket]) => {
      if (error !== null) return done(error, null)
      if (allowPrivate || isPublicAddress(socket.remoteAddress ?? '')) return done(null, socket)
      socket.destroy()
      done(new TargetRefused(), null)
    })
  }
  return new Agent({ connect, pipelining: 1 })
}

/** Asks name servers itself: the machine's look-up holds one of four threads, and a silent name server would hold all of them. */
function makePublicLookup(dnsServers: readonly string[] | undefined): LookupFunction {
  const resolver = new Resolver({ timeout: dnsTryMs, tries: dnsTries })
  if (dnsServers !== undefined) resolver.setServers(dnsServers)

  async function resolvePublic(host: string): Promise<{ address: string; family: number }[]> {
    const asked = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = asked.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length === 0 || !addresses.every(isPublicAddress)) throw new TargetRefused()
    return addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
  }

  return (host, options, done) => {
    resolvePublic(host).then(
      (found) => {
        const [first] = found as [{ address: string; family: number }]
        if (options.all) done(null, found)
        else done(null, first.address, first.family)
      },
      (error: Error) => done(error, '', 0),
    )
  }
}
