/** Texts of anonymous senders take time in proportion to their length: what backtracks over them would take hours here. */
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { keptReferrer } from '../../ingest/enrich/page-url.ts'
import { requestIdInHead } from '../../runtime/http/request-id.ts'

const length = 2_000_000
const blanks = ' '.repeat(length)
const id = 'X-Request-Id:'

test.each([
  ['an id behind blanks', () => requestIdInHead(`${id}${blanks}mine`), /^mine$/],
  ['an id that ends with blanks', () => requestIdInHead(`GET /\r\n${id} mine${blanks}\r\nHost: a`), /^mine$/],
  ['blanks in an id', () => requestIdInHead(`${id} a${blanks}b\r\n`), /^\S+-\w+$/],
  ['a long id', () => requestIdInHead(`${id} ${'a'.repeat(length)}`), /^\S+-\w+$/],
  ['tabs before what is no scheme', () => keptReferrer(`${'\t'.repeat(length)}!`), /^\t+!$/],
  ['tabs in a scheme', () => keptReferrer(` \tjava${'\t'.repeat(length)}script:1`), /^$/],
])('reads %s', (_, read, expected) => {
  expect(runInNewContext('read()', { read }, { timeout: 60_000 })).toMatch(expected)
})
