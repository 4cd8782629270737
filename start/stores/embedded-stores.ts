/** Starts the stores that aren't given by a URL, all at once, and says so when it takes long. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../runtime/config.ts'
import type { Supervised } from '../processes/supervise.ts'
import { say } from '../say.ts'
import { prepareClickHouse } from './clickhouse.ts'
import { preparePostgres } from './postgres.ts'
import { prepareRedis } from './redis.ts'
import type { Store } from './store.ts'

export interface StoreUrls {
  databaseUrl: string
  redisUrl: string
  clickhouseUrl: string
}

/** A start that takes longer is told in a line. */
const longMs = 2_000

export async function embeddedStores(
  config: Config,
  dataDir: string,
  startSupervised: (store: Store) => Supervised,
): Promise<StoreUrls> {
  const start = async (given: string | undefined, name: string, prepare: (folder: string) => Promise<Store>) => {
    if (given) return given
    const folder = join(dataDir, name)
    const doing = existsSync(folder) ? 'still starting' : 'setting up, which a first start has to do:'
    const timer = setTimeout(() => say(`${doing} ${name}`), longMs)
    try {
      const store = await prepare(folder)
      await startSupervised(store).firstUp
      return store.url
    } finally {
      clearTimeout(timer)
    }
  }
  const [databaseUrl, redisUrl, clickhouseUrl] = await Promise.all([
    start(config.databaseUrl, 'postgres', preparePostgres),
    start(config.redisUrl, 'redis', (folder) => prepareRedis(folder, { say })),
    start(config.clickhouseUrl, 'clickhouse', (folder) => prepareClickHouse(folder)),
  ])
  return { databaseUrl, redisUrl, clickhouseUrl }
}
