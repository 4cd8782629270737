/** The pipeline: everything that happens later and by itself. */
import { connectClickHouse } from '../clickhouse/client.ts'
import { connectPostgres } from '../postgres/client.ts'
import { systemClock } from '../runtime/clock.ts'
import { readConfig, requireStores, SettingError } from '../runtime/config.ts'
import { CantListen } from '../runtime/http/listen.ts'
import { makeLog } from '../runtime/log.ts'
import { makeMetrics } from '../runtime/metrics.ts'
import { makeShutdown } from '../runtime/shutdown.ts'
import { startFolder } from './fold/loop.ts'
import { jobs } from './jobs.ts'
import { makePipelineMetrics } from './pipeline-metrics.ts'
import { schedulesOf, startSweep } from './schedule.ts'
import { makeStatusServer } from './status-server.ts'
import { startWorker } from './worker.ts'

async function main(): Promise<void> {
  const config = readConfig()
  const { databaseUrl, redisUrl, clickhouseUrl } = requireStores(config)
  const log = makeLog('pipeline', config.logLevel)
  const metrics = makeMetrics('pipeline')
  const pipelineMetrics = makePipelineMetrics(metrics)
  const shutdown = makeShutdown(log)

  const pg = connectPostgres(databaseUrl)
  const ch = connectClickHouse(clickhouseUrl)
  const folder = startFolder({ pg, ch, clock: systemClock, log, metrics: pipelineMetrics })
  const worker = startWorker(redisUrl, jobs, { pg, ch, clock: systemClock, log, metrics: pipelineMetrics })
  const sweep = startSweep({ redisUrl, schedules: schedulesOf(config), metrics: pipelineMetrics, log })
  const server = makeStatusServer(metrics, log)

  shutdown.step('status server', () => server.close())
  shutdown.step('sweep', () => sweep.close())
  shutdown.step('worker', () => worker.close())
  shutdown.step('folder', () => folder.close())
  shutdown.step('stores', async () => {
    await Promise.all([pg.close(), ch.close()])
  })

  const port = await server.listen(config.listenHost, config.port)
  log.info({ port }, 'the pipeline is running')
  process.send?.({ type: 'ready', port })
}

main().catch((error) => {
  const isExpected = error instanceof SettingError || error instanceof CantListen
  process.stderr.write(`${isExpected ? error.message : error.stack}\n`)
  process.exit(1)
})
