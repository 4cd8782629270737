/**
 * What a site owner and the visitors meet: ingest with `/svc.js`, the API, and the front before both, over stores of the
 * test, and a browser that reaches them as `http://svc.localhost`. Sites are made up: see visits.ts.
 */
import type { Browser } from 'playwright-core'
import { makeDemoSite } from '../../start/demo-site.ts'
import { type Front, startFront } from '../../start/front.ts'
import { makeWorkspace, startApi, type TestApi, type TestWorkspace } from './api.ts'
import { sharedBrowser } from './browser.ts'
import { startIngest, type TestIngest } from './ingest.ts'
import type { Overview } from './overview.ts'
import { freshStores, type TestStores } from './stores.ts'

/** Where pages find the product. Below `localhost` a page counts as safe, as one over TLS does. */
export const productHost = 'svc.localhost'
export const productRoot = `http://${productHost}`

export interface TrackingSurface {
  /** Undefined where there is none: see `demand`. */
  readonly browser: Browser | undefined
  readonly stores: TestStores
  readonly ingest: TestIngest
  readonly front: Front
  /** The address in the snippet of the demo site, `/demo/`. */
  demoScriptUrl: string | undefined
  makeWorkspace(): Promise<TestWorkspace>
  overview(workspace: TestWorkspace): Promise<Overview>
  close(): Promise<void>
}

export async function startTrackingSurface(): Promise<TrackingSurface> {
  const browser = await sharedBrowser()
  const stores = await freshStores()
  const ingest = await startIngest(stores, { API_HOST: productRoot, TRUSTED_PROXIES: '127.0.0.1' })
  const api: TestApi = await startApi(stores)
  const front = await startFront({
    host: '127.0.0.1',
    port: 0,
    portOf: (service) => (service === 'ingest' ? ingest.port : api.port),
    page: async () => '',
    demo: makeDemoSite(() => surface.demoScriptUrl),
    countryHeader: 'cf-ipcountry',
    trustedProxies: ['127.0.0.0/8'],
  })
  const surface: TrackingSurface = {
    ...{ browser, stores, ingest, front, demoScriptUrl: undefined },
    makeWorkspace: () => makeWorkspace(stores),
    overview: async ({ apiKey }) => {
      const answer = await api.ask('/v1/analytics/overview?hours=2', { key: apiKey })
      if (!answer.ok) throw new Error(`the overview answered ${answer.status}`)
      return (await answer.json()) as Overview
    },
    close: async () => {
      await browser?.close()
      await front.close()
      await Promise.all([ingest.stop(), api.close()])
      await stores.close()
    },
  }
  return surface
}
