/** The API as a process of its own: reads the settings, connects the stores, serves until it is told to stop. */
import { connectClickHouse } from '../clickhouse/client.ts'
import { connectPostgres } from '../postgres/client.ts'
import { systemClock } from '../runtime/clock.ts'
import { readConfig, requireStores, SettingError } from '../runtime/config.ts'
import { CantListen } from '../runtime/http/listen.ts'
import { makeLog } from '../runtime/log.ts'
import { makeMetrics } from '../runtime/metrics.ts'
import { makeShutdown } from '../runtime/shutdown.ts'
import { makeGateway } from './gateway.ts'
import { operations } from './operations/registry.ts'

async function main(): Promise<void> {
  const config = readConfig()
  const { databaseUrl, clickhouseUrl } = requireStores(config)
  const log = makeLog('api', config.logLevel)
  const shutdown = makeShutdown(log)
  const pg = connectPostgres(databaseUrl)
  const ch = connectClickHouse(clickhouseUrl)
  let port = config.port
  const server = makeGateway({
    ...{ operations, pg, ch, log, clock: systemClock, metrics: makeMetrics('api') },
    apiHost: () => config.apiHost?.replace(/\/+$/, '') ?? `http://localhost:${port}`,
  })
  port = await server.listen(config.listenHost, config.port)
  shutdown.step('stop listening', () => server.close())
  shutdown.step('disconnect Postgres', () => pg.close())
  shutdown.step('disconnect ClickHouse', () => ch.close())
  log.info({ port }, 'the API is ready')
  process.send?.({ type: 'ready', port })
}

main().catch((error: Error) => {
  const isExpected = error instanceof SettingError || error instanceof CantListen
  process.stderr.write(`api: ${isExpected ? error.message : error.stack}\n`)
  process.exit(1)
})
