/** A statement's failure is judged by when it failed. */
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { connectClickHouse } from '../../clickhouse/client.ts'
import { sleep } from '../../runtime/retry.ts'
import { listening } from '../support/listening.ts'

/** As ClickHouse answers where a deadline has cut off the making of a set that a later step wants. */
const text =
  "Code: 49. DB::Exception: Not-ready Set is passed as the second argument for function 'in'. (LOGICAL_ERROR)"

test.each([
  [50, 'StoreLate'],
  [60_000, 'ClickHouseError'],
])('an error 49 after 200 ms, with a deadline of %d ms, is %s', async (deadlineMs, name) => {
  const server = createServer(async (request, response) => {
    request.resume()
    await sleep(200)
    response.writeHead(500, { 'X-ClickHouse-Exception-Code': '49' }).end(text)
  })
  const ch = connectClickHouse((await listening(server)).url)
  onTestFinished(async () => {
    await ch.close()
    server.close()
  })
  const asked = await Promise.allSettled([
    ch.query('SELECT 1', {}, { deadlineMs }),
    ch.batches('SELECT 1', {}, { deadlineMs }).next(),
  ])
  const failures = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason.constructor.name] : []))
  expect(failures).toEqual([name, name])
})

test.each([
  [502, ''],
  [502, '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body></body>\r\n</html>'],
  [503, '<html>\r\n<head><title>503 Service Temporarily Unavailable</title></head>\r\n</html>'],
  [504, '<html>\r\n<head><title>504 Gateway Time-out</title></head>\r\n</html>'],
])('a balancer that answers %d `%s` for ClickHouse says that it is away', async (status, page) => {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(status).end(page)
  })
  const ch = connectClickHouse((await listening(server)).url)
  onTestFinished(async () => {
    await ch.close()
    server.close()
  })
  for (const asked of [ch.query('SELECT 1'), ch.command('SELECT 1')])
    await expect(asked).rejects.toMatchObject({ name: 'StoreUnavailable' })
})

test('a statement of minutes ends soon where the server hangs, and not where it works on', async () => {
  let [hangs, pings] = [false, 0]
  const server = createServer(async (request, response) => {
    request.resume()
    const isPing = request.url!.startsWith('/ping')
    if (hangs) return
    if (isPing) pings++
    // Longer than a server may be silent.
    else while (pings < 5) await sleep(50)
    response.end(isPing ? 'Ok.\n' : '{"a":1}\n')
  })
  const ch = connectClickHouse((await listening(server)).url, 250)
  onTestFinished(async () => {
    await ch.close()
    server.closeAllConnections()
    server.close()
  })
  const long = { deadlineMs: 60_000 }
  expect(await ch.query('SELECT 1 AS a', {}, long)).toEqual([{ a: 1 }])
  hangs = true
  const asked = [
    ch.query('SELECT 1', {}, long),
    ch.batches('SELECT 1', {}, long).next(),
    ch.command('SELECT 1', {}, long),
  ]
  const failures = (await Promise.allSettled(asked)).map((one) => one.status === 'rejected' && one.reason.message)
  expect(failures).toEqual(Array(3).fill('clickhouse: the server answers nothing any more'))
})
