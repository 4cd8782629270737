/** A request of the dashboard ends, and its failure is told in words. */
import { afterEach, expect, test, vi } from 'vitest'
import { soon } from '../../web/dashboard/posts/post-move.ts'
import { refusalOf, request } from '../../web/dashboard/requests/request.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** As a server that takes the request and says nothing. */
const silent = (_: string, { signal }: RequestInit) =>
  new Promise((_resolve, reject) => {
    signal!.addEventListener('abort', () => reject(signal!.reason))
  })

test('what isn’t answered within 20 seconds has failed; an upload hasn’t', async () => {
  vi.useFakeTimers()
  vi.stubGlobal('fetch', silent)
  const told: string[] = []
  void request('/workspace').catch((error: Error) => told.push(error.message))
  void request('/media', { withinMs: Number.POSITIVE_INFINITY }).catch((error: Error) => told.push(error.message))
  await vi.advanceTimersByTimeAsync(19_000)
  expect(told).toEqual([])
  await vi.advanceTimersByTimeAsync(100_000)
  expect(told).toEqual(['The service doesn’t answer'])
})

test('no network and a body that isn’t JSON are told apart', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')))
  await expect(request('/workspace')).rejects.toThrow('The service can’t be reached')
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('<h1>Bad gateway</h1>', { status: 502 })))
  await expect(request('/workspace')).rejects.toThrow('The service answered 502')
})

// 0 comes last: what a file's last answer says of the clock stays for later files.
test.each([-3_600_000, -20_000, 3_600_000, 0])(
  'a post that goes out now is scheduled by the server’s clock, which is %i ms ahead',
  async (ahead) => {
    const server = () => Date.now() + ahead
    vi.stubGlobal('fetch', async () => new Response('{}', { headers: { date: new Date(server()).toUTCString() } }))
    await request('/workspace')
    const from = Date.parse(soon()) - server()
    expect(from).toBeGreaterThan(10_000)
    expect(from).toBeLessThan(30_000)
  },
)

test('a refusal names the field and says what is wrong, without the marks of the API', () => {
  const refused = (loc: (string | number)[], msg: string) =>
    refusalOf({ response: new Response(null, { status: 422 }), body: { detail: [{ loc, msg }] } })
  expect(refused(['body', 'currency'], 'String should have at most 3 characters')).toBe(
    'Currency: must have at most 3 characters',
  )
  expect(refused(['body', 'timezone'], 'Value error, The timezone must be an IANA name')).toBe(
    'Timezone: The timezone must be an IANA name',
  )
  expect(refused(['body', 'scopes'], 'List should have at least 1 item after validation, not 0')).toBe(
    'Scopes: must have at least 1 item',
  )
  expect(refused(['body', 'source_urls', 0], 'Field required')).toBe('Public pages 1: is required')
  expect(refused(['body', 'platform_captions', 'x'], 'Field required')).toBe('Another caption for x: is required')
  expect(refused(['body', 'thread', 0], 'Field required')).toBe('Part 2: is required')
  expect(refused(['body', 'thread', 0, 'media_ids', 1], 'No')).toBe('Part 2, images and videos 2: No')
  expect(refused(['query', 'device', 0], 'Input should be unknown')).toBe('Device: must be unknown')
  expect(refused(['body'], 'Value error, One is needed')).toBe('One is needed')
})
