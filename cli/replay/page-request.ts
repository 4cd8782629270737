/** Which requests of a log were somebody opening a page, as far as a log can tell. */
import type { LogLine } from './log-line.ts'

/** Endings of addresses that answer with a page; any other ending is an asset or a download. */
const pageEndings = new Set([
  'html',
  'htm',
  'xhtml',
  'shtml',
  'php',
  'asp',
  'aspx',
  'jsp',
  'jspx',
  'cfm',
  'cgi',
  'pl',
  'do',
])

/** A page opened by GET and answered with it: redirects, errors and parts of files are none. */
export function isPageRequest({ method, target, status }: LogLine): boolean {
  return method === 'GET' && (status === 200 || status === 304) && isPageAddress(target)
}

function isPageAddress(target: string): boolean {
  const path = /^[^?#]*/.exec(target)![0]
  // `/v1.2` and `/hello.there-is-more` have no ending: one begins with a letter and is short.
  const ending = /\.([A-Za-z][A-Za-z0-9]{0,9})$/.exec(path.slice(path.lastIndexOf('/') + 1))?.[1]
  return ending === undefined || pageEndings.has(ending.toLowerCase())
}
