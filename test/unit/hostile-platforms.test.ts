/** Answers of platforms made to keep whoever reads them busy: anybody's server may be behind the address of one. */
import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { renewToken } from '../../pipeline/publishing/oauth2.ts'
import { askProvider, listIn } from '../../pipeline/publishing/request.ts'
import { listening } from '../support/listening.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { selfSigned } from '../support/self-signed.ts'

let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
})
afterAll(() => receiver?.close())

test('a text without an end, where long numbers are looked for, is refused within its time', {
  timeout: 60_000,
}, async () => {
  receiver.behaviour = (_, response) => void response.end(`{"a":"${'\\"'.repeat(400_000)}`)
  const asking = askProvider({ url: receiver.url, signal: new AbortController().signal, hasLongNumbers: true })
  await expect(asking).rejects.toThrow('The platform answered something else than JSON')
})

test('an answer that is nested deeper than any platform’s is refused before it is parsed', async () => {
  receiver.behaviour = (_, response) => void response.end(`{"a":${'['.repeat(100)}${']'.repeat(100)}}`)
  const asking = askProvider({ url: receiver.url, signal: new AbortController().signal })
  await expect(asking).rejects.toThrow('The platform answered something else than JSON')
})

test('a platform that breaks the rules of HTTP is said in words', async () => {
  receiver.behaviour = (_, response) => void response.socket?.end('HTTP/1.1 000 None\r\n\r\n')
  const asking = askProvider({ url: receiver.url, signal: new AbortController().signal })
  await expect(asking).rejects.toThrow(/^The platform could not be reached: The answer is not HTTP/)
})

test('a refusal that repeats the token is told without it', async () => {
  const token = 'token-of-the-account'
  receiver.behaviour = ({ headers }, response) => {
    // Long enough for what is kept to end in the token.
    const error = `Malformed token ${headers.authorization} ${'.'.repeat(260)}${token}`
    response.writeHead(401).end(JSON.stringify({ error }))
  }
  const asking = askProvider({ url: receiver.url, token, signal: new AbortController().signal })
  await expect(asking).rejects.toThrow(/^The platform answered 401: Malformed token Bearer … \.{260}…$/)
})

test('a refused renewal that repeats the refresh token is told without it', async () => {
  const kept = { clientId: 'app', clientSecret: 'secret-"of"-the-app', refreshToken: '1//token-that-renews' }
  for (const status of [400, 200]) {
    receiver.behaviour = (_, response) => {
      const error_description = `${kept.refreshToken} of ${kept.clientSecret} is over`
      const body = JSON.stringify({ error: 'invalid_grant', error_description })
      // As PHP writes JSON.
      response.writeHead(status).end(body.replaceAll('/', '\\/'))
    }
    const renewing = renewToken(receiver.url, kept, new AbortController().signal)
    await expect(renewing).rejects.toThrow(/: … of … is over$/)
  }
})

test('a request that no connection took, TLS included, is known to be unsent; one that broke is not', async () => {
  const untrusted = await startReceiver(selfSigned)
  let ending: 'end' | 'resetAndDestroy' = 'end'
  const server = createServer((socket) => socket.on('error', () => {}).once('data', () => socket[ending]()))
  const port = new URL((await listening(server)).url).port
  const unsent = (url: string) =>
    askProvider({ url, method: 'POST', json: {}, signal: new AbortController().signal }).then(
      () => undefined,
      ({ failure }) => failure.isUnpublished,
    )
  expect(await unsent(untrusted.url)).toBe(true)
  expect([await unsent(`https://127.0.0.1:${port}`), await unsent(`http://127.0.0.1:${port}`)]).toEqual([true, false])
  ending = 'resetAndDestroy'
  expect([await unsent(`https://127.0.0.1:${port}`), await unsent(`http://127.0.0.1:${port}`)]).toEqual([true, false])
  await untrusted.close()
  server.close()
  expect(await unsent(`http://127.0.0.1:${port}`)).toBe(true)
})

test('entries of a list that are no objects are passed over', () => {
  expect(listIn({ data: [null, 'a', { id: '1' }, []] }, 'data')).toEqual([{ id: '1' }])
  expect(() => listIn({ data: null }, 'data')).toThrow('has no data')
})
