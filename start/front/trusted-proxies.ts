/**
 * Who is believed under `npm start` on where a request comes from. The front, which the world reaches, believes the
 * operator's proxies, or this machine where none are named. Behind it the services are reached by the front alone, from
 * this machine, so they believe that one besides: with only the operator's list they would take the front for everybody.
 */
const loopback = ['127.0.0.0/8', '::1/128']

export function trustedProxiesOf(given: readonly string[]): { front: string[]; services: string[] } {
  return { front: given.length > 0 ? [...given] : loopback, services: [...new Set([...loopback, ...given])] }
}
