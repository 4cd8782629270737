/** The API as a process of its own: reads the settings, connects the stores, serves until it is told to stop. */
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { connectClickHouse } from '../clickhouse/client.ts'
import { connectPostgres } from '../postgres/client.ts'
import { checkAtStart } from '../postgres/start-check.ts'
import { requireOwnHosts } from '../postgres/tables/links/own-hosts.ts'
import { bindServiceKey } from '../postgres/tables/operation/secret-key-check.ts'
import { systemClock } from '../runtime/clock.ts'
import { readConfig, requireStores, SettingError } from '../runtime/config.ts'
import { makeIdentityHashes } from '../runtime/crypto/identity-hash.ts'
import { makeKeyedHash } from '../runtime/crypto/keyed-hash.ts'
import { makeMediaLinks } from '../runtime/crypto/media-link.ts'
import {
  accountCredentialsPurpose,
  accountMailPurpose,
  makeSecretBox,
  platformAppsPurpose,
  revenueSecretsPurpose,
  secondFactorPurpose,
  secretBoxPurpose,
} from '../runtime/crypto/secret-box.ts'
import { makeFileStorage } from '../runtime/files/file-storage.ts'
import { letHeapGrow } from '../runtime/heap.ts'
import { CantListen } from '../runtime/http/listen.ts'
import { makeTrustedProxies } from '../runtime/http/trusted-proxy.ts'
import { makeLog } from '../runtime/log.ts'
import { makeMetrics } from '../runtime/metrics.ts'
import { makeTxtReader } from '../runtime/outbound/txt-records.ts'
import { makeShutdown } from '../runtime/shutdown.ts'
import { rateLimitDeadlineMs } from '../schemas/limits/api-limits.ts'
import { txtDeadlineMs } from '../schemas/limits/domain-limits.ts'
import { uploadsLeaveFree } from '../schemas/limits/media-limits.ts'
import { clickhousePulseShareOfAnswer, postgresShareOfAnswer, redisDeadlineMs } from '../schemas/limits/store-limits.ts'
import { hourMs } from '../schemas/time/time-zone.ts'
import { makeGateway } from './gateway.ts'
import { makeRateLimiter, makeSignInLimiter } from './guards/rate-limit.ts'
import { startMediaSweep } from './media/sweep.ts'
import { operations } from './operations/registry.ts'

async function main(): Promise<void> {
  letHeapGrow()
  const config = readConfig()
  const { databaseUrl, clickhouseUrl, redisUrl, secretKey } = requireStores(config)
  const log = makeLog('api', config.logLevel)
  const shutdown = makeShutdown(log)
  const pg = connectPostgres(databaseUrl, { deadlineMs: config.answerDeadlineMs * postgresShareOfAnswer })
  // At once: while Postgres is away each waits for its deadline.
  await Promise.all([
    bindServiceKey(pg, config, shutdown, log),
    checkAtStart(() => requireOwnHosts(pg, config), shutdown, log),
  ])
  const ch = connectClickHouse(clickhouseUrl, config.answerDeadlineMs * clickhousePulseShareOfAnswer)
  const redis = connectRedis(redisUrl)
  const rateLimiter = makeRateLimiter({
    redis,
    limits: { starter: config.rateLimitStarter, growth: config.rateLimitGrowth, scale: config.rateLimitScale },
    clock: systemClock,
  })
  const mediaFolder = config.mediaDir || join(config.dataDir, 'media')
  const media = makeFileStorage(mediaFolder, uploadsLeaveFree * config.diskFreeBytesMin)
  let port = config.port
  const server = makeGateway({
    operations,
    pg,
    ch,
    log,
    clock: systemClock,
    metrics: makeMetrics('api'),
    rateLimiter,
    signInLimiter: makeSignInLimiter(redis),
    box: makeSecretBox(secretKey, secretBoxPurpose),
    hashes: makeIdentityHashes(secretKey),
    revenueBox: makeSecretBox(secretKey, revenueSecretsPurpose),
    mailBox: makeSecretBox(secretKey, accountMailPurpose),
    accountBox: makeSecretBox(secretKey, accountCredentialsPurpose),
    appBox: makeSecretBox(secretKey, platformAppsPurpose),
    factorBox: makeSecretBox(secretKey, secondFactorPurpose),
    browserHash: makeKeyedHash(secretKey, 'browsers that signed in before'),
    answerDeadlineMs: config.answerDeadlineMs,
    idempotencyKeptMs: config.idempotencyHours * hourMs,
    hashAddress: makeKeyedHash(secretKey, 'addresses of callers'),
    hashRequest: makeKeyedHash(secretKey, 'requests with an Idempotency-Key'),
    proxies: makeTrustedProxies(config.trustedProxies),
    media,
    mediaLinks: makeMediaLinks(secretKey),
    mediaLimits: { imageBytesMax: config.mediaImageBytesMax, videoBytesMax: config.mediaVideoBytesMax },
    mediaBytesMax: {
      starter: config.mediaBytesStarter,
      growth: config.mediaBytesGrowth,
      scale: config.mediaBytesScale,
    },
    apiHost: () => config.apiHost ?? `http://localhost:${port}`,
    shortUrlHost: config.shortUrlHost,
    readTxt: makeTxtReader(txtDeadlineMs),
    allowPrivateTargets: config.allowPrivateTargets,
    isMailSetUp: config.smtpServer !== undefined && config.mailFrom !== undefined,
  })
  port = await server.listen(config.listenHost, config.port)
  const sweeping = startMediaSweep(media, pg, log)
  shutdown.step('stop listening', () => server.close())
  shutdown.step('stop sweeping', () => sweeping.stop())
  shutdown.step('disconnect Postgres', () => pg.close())
  shutdown.step('disconnect ClickHouse', () => ch.close())
  shutdown.step('disconnect Redis', async () => redis.disconnect())
  log.info({ port }, 'the API is ready')
  process.send?.({ type: 'ready', port })
}

/**
 * Fails at once while it isn't connected: requests are counted here then. A connection on which nothing comes back is given up,
 * so that requests don't wait for it one after another.
 */
function connectRedis(url: string): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: rateLimitDeadlineMs,
    connectTimeout: redisDeadlineMs,
    socketTimeout: redisDeadlineMs,
  })
  // It connects again by itself; without a listener each failure would be printed.
  redis.on('error', () => {})
  return redis
}

main().catch((error: Error) => {
  const isExpected = error instanceof SettingError || error instanceof CantListen
  process.stderr.write(`api: ${isExpected ? error.message : error.stack}\n`)
  process.exit(1)
})
