/** Pages that their servers compress, though nobody asked for it. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { fetchPage } from '../../pipeline/profile/fetch-page.ts'
import { makeGuardedAgent } from '../../runtime/outbound/guarded-agent.ts'
import { listening } from '../support/listening.ts'

test.each([
  ['gzip', gzipSync('<h1>Hi</h1>'), '<h1>Hi</h1>'],
  ['none', '<h1>Hi</h1>', '<h1>Hi</h1>'],
  ['gzip', 'Hi', 'The page can not be unpacked'],
  ['zstd', 'Hi', 'The page is compressed in a way that was not asked for'],
])('%s', async (encoding, body, expected) => {
  const server = createServer((request, response) => {
    const status = request.url === '/' ? 200 : 404
    response.writeHead(status, { 'content-type': 'text/html', 'content-encoding': encoding }).end(body)
  })
  const { url } = await listening(server)
  const agent = makeGuardedAgent({ allowPrivate: true, connectMs: 5_000 })
  onTestFinished(async () => {
    await agent.close()
    server.close()
    await once(server, 'close')
  })
  const fetching = { agent, allowPrivate: true, signal: new AbortController().signal }
  const said = await fetchPage(`${url}/`, fetching).then(
    ({ text }) => text,
    ({ message }: Error) => message,
  )
  expect(said).toBe(expected)
})
