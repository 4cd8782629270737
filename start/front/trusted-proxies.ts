import { isLoopback } from '../../runtime/loopback.ts'

/**
 * Who is believed under `npm start` on where a request comes from. The front believes the operator's proxies, and this
 * machine where none are named, or where it alone reaches the front: then a proxy on it is before it. Behind it the services are reached by the front alone, from
 * this machine, so they believe that one besides: with only the operator's list they would take the front for everybody.
 */
const loopback = ['127.0.0.0/8', '::1/128']

export function trustedProxiesOf(
  given: readonly string[],
  listenHost: string,
): { front: string[]; services: string[] } {
  const services = [...new Set([...loopback, ...given])]
  return { front: given.length === 0 || isLoopback(listenHost) ? services : [...given], services }
}
