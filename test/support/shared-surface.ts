/**
 * Ingest and the API for all test files that open pages, started in the run's first process when the first file asks.
 * Each test has a workspace of its own. The files' side of it: tracking-surface.ts.
 */
import { makeWorkspace, startApi } from './api.ts'
import { startIngest } from './ingest.ts'
import { productRoot } from './product-host.ts'
import type { SharedStores } from './shared-stores.ts'
import { freshStoresOn } from './stores.ts'

export type RunningSurface = Awaited<ReturnType<typeof startSurface>>
export type SurfaceAnswer = RunningSurface['answer']

export async function startSurface(shared: SharedStores) {
  const stores = await freshStoresOn(shared)
  const ingest = await startIngest(stores, { API_HOST: productRoot, TRUSTED_PROXIES: '127.0.0.1' })
  const api = await startApi(stores)
  const { databaseUrl, clickhouseUrl } = stores
  return {
    answer: { databaseUrl, clickhouseUrl, ingestPort: ingest.port, apiPort: api.port },
    makeWorkspace: () => makeWorkspace(stores),
    close: async () => {
      await Promise.all([ingest.stop(), api.close()])
      await stores.close()
    },
  }
}
