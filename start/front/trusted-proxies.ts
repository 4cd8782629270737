/** The proxies that the front and the services trust, under `npm start`, to say where a request comes from. */
import { isLoopback } from '../../runtime/loopback.ts'

const loopback = ['127.0.0.0/8', '::1/128']

/**
 * The front trusts the operator's proxies. It trusts this machine too if none are named, or if only this machine reaches it:
 * then its proxy runs here. The services always trust this machine, since the front asks them from here. Without that,
 * every sender would have the front's address.
 */
export function trustedProxiesOf(
  given: readonly string[],
  listenHost: string,
): { front: string[]; services: string[] } {
  const services = [...new Set([...loopback, ...given])]
  return { front: given.length === 0 || isLoopback(listenHost) ? services : [...given], services }
}
