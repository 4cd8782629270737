/** Databases that a managed ClickHouse has made already. */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { connectClickHouse } from '../../clickhouse/client.ts'
import { listening } from '../support/listening.ts'

test('a database that is there is taken, where its user may make none', async () => {
  const server = createServer(async (request, response) => {
    const sql = `${request.url} ${await text(request)}`
    if (sql.includes('system.databases')) response.end('{"1":1}\n')
    else
      response
        .writeHead(403, { 'X-ClickHouse-Exception-Code': '497' })
        .end('Code: 497. DB::Exception: svc: Not enough privileges. (ACCESS_DENIED)')
  })
  const ch = connectClickHouse(`${(await listening(server)).url}/svc`)
  onTestFinished(async () => {
    await ch.close()
    server.close()
  })
  await expect(ch.createDatabase()).resolves.toBeUndefined()
})
