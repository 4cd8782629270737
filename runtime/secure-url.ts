/** Whether a URL is safe to fetch from, or to send a secret to. */
import { isLoopback } from './loopback.ts'

/** Over http only from this machine itself: on any other way somebody could change the data. */
export function isSecureUrl({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}
