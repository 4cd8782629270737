/** The pipeline as a process of its own: connects the stores, and runs each loop until it is told to stop. */
import { join } from 'node:path'
import { connectClickHouse } from '../clickhouse/client.ts'
import { connectPostgres } from '../postgres/client.ts'
import { bindServiceKey } from '../postgres/tables/operation/secret-key-check.ts'
import { systemClock } from '../runtime/clock.ts'
import { type Config, readConfig, requireStores, SettingError } from '../runtime/config.ts'
import { makeIdentityHashes } from '../runtime/crypto/identity-hash.ts'
import { accountMailPurpose, makeSecretBox, searchKeysPurpose, secretBoxPurpose } from '../runtime/crypto/secret-box.ts'
import { makeFileStorage } from '../runtime/files/file-storage.ts'
import { CantListen } from '../runtime/http/listen.ts'
import { type Log, makeLog } from '../runtime/log.ts'
import { makeMetrics } from '../runtime/metrics.ts'
import { makeGuardedAgent } from '../runtime/outbound/guarded-agent.ts'
import { sleep } from '../runtime/retry.ts'
import { makeShutdown } from '../runtime/shutdown.ts'
import { chatConnectMs } from '../schemas/limits/chat-limits.ts'
import { profileRequestMs } from '../schemas/limits/profile-limits.ts'
import { webhookAttemptMs } from '../schemas/limits/webhook-limits.ts'
import { startAccountMailer } from './account-mails/send-account-mails.ts'
import { startAlertMailer } from './alerts/send-alerts.ts'
import { startTrafficWatch } from './alerts/watch-traffic.ts'
import { makeChatPoster } from './chat/poster.ts'
import { startEngagementReader } from './engagement/read-engagement.ts'
import { startFeedReader } from './feeds/look-at-feeds.ts'
import { startFoldLoop } from './fold/loop.ts'
import { startMerger } from './people/merger.ts'
import { makePipelineMetrics } from './pipeline-metrics.ts'
import { startProfiler } from './profile/loop.ts'
import { makeRenewals } from './publishing/account-session.ts'
import { makeCredentialsBox } from './publishing/adapters.ts'
import { makeMediaUrls } from './publishing/media-urls.ts'
import { startPublisher } from './publishing/publisher.ts'
import { jobs } from './queue/jobs.ts'
import { schedulesOf, startSweep } from './queue/schedule.ts'
import { watchQueues } from './queue/watch-queues.ts'
import { startWorker } from './queue/worker.ts'
import { type Mailer, makeMailer } from './reports/mailer.ts'
import { startAskedReporter } from './reports/send-asked.ts'
import { startReporter } from './reports/send-reports.ts'
import { startCreditLoop } from './revenue/credit-loop.ts'
import { googleDispatcher, startSearchReader } from './search/pull-sites.ts'
import { makeStatusServer } from './status-server.ts'
import { startSender } from './webhooks/sender.ts'
import { startClickTeller } from './webhooks/tell-clicks.ts'

async function main(): Promise<void> {
  const config = readConfig()
  const { databaseUrl, redisUrl, clickhouseUrl, secretKey } = requireStores(config)
  const log = makeLog('pipeline', config.logLevel)
  const metrics = makeMetrics('pipeline')
  const pipelineMetrics = makePipelineMetrics(metrics)
  const shutdown = makeShutdown(log)

  const pg = connectPostgres(databaseUrl)
  await bindServiceKey(pg, config, shutdown, log)
  const ch = connectClickHouse(clickhouseUrl)
  const hashes = makeIdentityHashes(secretKey)
  const folder = startFoldLoop({ pg, ch, clock: systemClock, log, metrics: pipelineMetrics })
  const merger = startMerger({ pg, hashes, clock: systemClock, log, metrics: pipelineMetrics })
  const { allowPrivateTargets: allowPrivate } = config
  const { apiHost = '' } = config
  // Pages that customers name.
  const fetching = { agent: makeGuardedAgent({ allowPrivate, connectMs: profileRequestMs }), allowPrivate }
  const mailer = mailerOf(config, log)
  // Connections of its own: whoever folds doesn't wait for those who publish.
  const publisherPg = connectPostgres(databaseUrl)
  const toPlatforms = {
    pg: publisherPg,
    clock: systemClock,
    log,
    metrics: pipelineMetrics,
    box: makeCredentialsBox(secretKey),
    renewals: makeRenewals(),
    fetching,
    sleep,
  }
  const publisher = startPublisher({
    ...toPlatforms,
    media: makeFileStorage(config.mediaDir || join(config.dataDir, 'media')),
    holdBefore: config.holdPostsBefore,
    mediaUrl: makeMediaUrls(secretKey, apiHost, systemClock),
    isMailSetUp: mailer !== undefined,
  })
  const engagementReader = startEngagementReader(toPlatforms)
  const feedReader = startFeedReader({
    pg: publisherPg,
    clock: systemClock,
    log,
    metrics: pipelineMetrics,
    fetching,
    apiHost,
    shortUrlHost: config.shortUrlHost ?? (apiHost && `${apiHost}/l`),
    isMailSetUp: mailer !== undefined,
    holdBefore: config.holdPostsBefore,
  })
  const searchReader = startSearchReader({
    pg,
    ch,
    clock: systemClock,
    log,
    metrics: pipelineMetrics,
    box: makeSecretBox(secretKey, searchKeysPurpose),
    dispatcher: googleDispatcher(allowPrivate),
  })
  const creditLoop = startCreditLoop({ pg, ch, hashes, clock: systemClock, log, metrics: pipelineMetrics })
  const worker = startWorker(redisUrl, jobs, { pg, ch, clock: systemClock, log, metrics: pipelineMetrics })
  const sweep = startSweep({ pg, redisUrl, schedules: schedulesOf(config), metrics: pipelineMetrics, log })
  const sender = startSender({
    pg,
    clock: systemClock,
    log,
    metrics: pipelineMetrics,
    box: makeSecretBox(secretKey, secretBoxPurpose),
    agent: makeGuardedAgent({ allowPrivate, connectMs: webhookAttemptMs }),
  })
  if (apiHost === '') log.warn("API_HOST isn't set: addresses of media in company_profile.updated have no host")
  const profiler = startProfiler(
    {
      pg,
      ch,
      clock: systemClock,
      log,
      apiHost,
      fetching,
    },
    pipelineMetrics,
  )
  const ofFigures = { pg, ch, clock: systemClock, log, metrics: pipelineMetrics }
  const chat = makeChatPoster(makeGuardedAgent({ allowPrivate, connectMs: chatConnectMs }), systemClock)
  const reporting = { ...ofFigures, apiHost, chat, mailer, box: makeSecretBox(secretKey, secretBoxPurpose) }
  const messaging = [startReporter(reporting), startAskedReporter(reporting), startAlertMailer(reporting)]
  const accountBox = makeSecretBox(secretKey, accountMailPurpose)
  if (mailer !== undefined) messaging.push(startAccountMailer({ ...reporting, mailer, box: accountBox }))
  const trafficWatch = startTrafficWatch({ ...ofFigures, apiHost, isMailSetUp: mailer !== undefined })
  const clickTeller = startClickTeller(ofFigures)
  const watch = watchQueues(pg, pipelineMetrics)
  const server = makeStatusServer(metrics, log)

  shutdown.step('status server', () => server.close())
  shutdown.step('sweep', () => sweep.close())
  // Together, so that all of them end within the time that a stop has.
  shutdown.step('work', async () => {
    await Promise.all([
      worker.close(),
      publisher.close(),
      engagementReader.close(),
      feedReader.close(),
      searchReader.close(),
      sender.close(),
      creditLoop.close(),
      profiler.close(),
      ...messaging.map((loop) => loop.close()),
      trafficWatch.close(),
      clickTeller.close(),
      folder.close(),
      merger.close(),
    ])
  })
  shutdown.step('queue metrics', () => watch.close())
  shutdown.step('stores', async () => {
    await Promise.all([pg.close(), publisherPg.close(), ch.close()])
  })

  const port = await server.listen(config.listenHost, config.port)
  log.info({ port }, 'the pipeline is running')
  process.send?.({ type: 'ready', port })
}

/** Undefined where mail isn't set up. */
function mailerOf({ smtpServer, mailFrom, apiHost }: Config, log: Log): Mailer | undefined {
  if (smtpServer === undefined && mailFrom === undefined) return undefined
  if (smtpServer !== undefined && mailFrom !== undefined && apiHost !== undefined)
    return makeMailer(smtpServer, mailFrom)
  log.warn('no mails are sent: they need SMTP_URL, MAIL_FROM and API_HOST')
  return undefined
}

main().catch((error) => {
  const isExpected = error instanceof SettingError || error instanceof CantListen
  process.stderr.write(`${isExpected ? error.message : error.stack}\n`)
  process.exit(1)
})
