import { isLoopback } from '../../runtime/loopback.ts'

/**
 * Who is believed under `npm start` on where a request comes from. The front believes the operator's proxies. It believes this
 * machine too where none are named, or where only this machine reaches it: then a proxy stands before it here. The services
 * are reached by the front alone, from this machine, so they believe that besides. Else the front would be everybody.
 */
const loopback = ['127.0.0.0/8', '::1/128']

export function trustedProxiesOf(
  given: readonly string[],
  listenHost: string,
): { front: string[]; services: string[] } {
  const services = [...new Set([...loopback, ...given])]
  return { front: given.length === 0 || isLoopback(listenHost) ? services : [...given], services }
}
