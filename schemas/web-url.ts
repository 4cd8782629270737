/** Addresses of the web that a customer gives. */
import { parsedUrlLengthMax } from './limits/api-limits.ts'

/** Whether it has a host, no credentials and no blanks. Whether plain http is taken depends on the installation. */
export function isWebUrl(text: string): boolean {
  if (text.length > parsedUrlLengthMax) return false
  // A reader of URLs would drop them, or write them otherwise: another URL than the one that is shown.
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && hostname !== '' && username === '' && password === ''
}
