/** Texts of senders take time in proportion to their length: what backtracks over them would take hours here. */
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { keptReferrer } from '../../ingest/enrich/page-url.ts'
import { readPage } from '../../pipeline/profile/read-page.ts'
import { requestIdInHead } from '../../runtime/http/request-id.ts'
import { destinationProblem } from '../../schemas/event/tracking-url.ts'
import { canonicalHost } from '../../schemas/exclusions.ts'
import { isWebUrl } from '../../schemas/web-url.ts'

const length = 2_000_000
const blanks = ' '.repeat(length)
const id = 'X-Request-Id:'
/** Its name in ASCII takes time with the square of its different letters. */
const host = Array.from({ length: 300_000 }, (_, at) => String.fromCharCode(0x4e00 + ((at * 7) % 20_000))).join('')
const link = `<a href="https://${host}.example/">`
const longBase = `<base href="https://a.example/${'a'.repeat(1_900_000)}/">${'<a href="b">'.repeat(9_000)}`

test.each([
  ['an id behind blanks', () => requestIdInHead(`${id}${blanks}mine`), /^mine$/],
  ['an id that ends with blanks', () => requestIdInHead(`GET /\r\n${id} mine${blanks}\r\nHost: a`), /^mine$/],
  ['blanks in an id', () => requestIdInHead(`${id} a${blanks}b\r\n`), /^\S+-\w+$/],
  ['a long id', () => requestIdInHead(`${id} ${'a'.repeat(length)}`), /^\S+-\w+$/],
  ['tabs before what is no scheme', () => keptReferrer(`${'\t'.repeat(length)}!`), /^\t+!$/],
  ['a host of many letters', () => canonicalHost(host), /^\p{L}{300000}$/u],
  ['a web address of that host', () => String(isWebUrl(`https://${host}/`)), /^false$/],
  [
    'a destination of that host',
    () => destinationProblem(`https://${host}/`)!,
    /^The host or the port of the URL is none$/,
  ],
  ['a page with a link to that host', () => readPage('https://a.example/', link).links.join(), /^$/],
  ['links below a long base', () => readPage('https://a.example/', longBase).links.join(), /^https:\/\/a\.example\/b$/],
  ['tabs in a scheme', () => keptReferrer(` \tjava${'\t'.repeat(length)}script:1`), /^$/],
])('reads %s', (_, read, expected) => {
  expect(runInNewContext('read()', { read }, { timeout: 60_000 })).toMatch(expected)
})
