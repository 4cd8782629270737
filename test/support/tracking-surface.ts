/**
 * The product as site owners and visitors meet it. Ingest with `/svc.js` and the API are shared by the files of a run;
 * the front before both has the demo site. A browser reaches them as `http://svc.localhost`. Sites are made up: see
 * visits.ts.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import { makeDemoSite } from '../../start/front/demo-site.ts'
import { type Front, startFront } from '../../start/front/front.ts'
import type { TestWorkspace } from './api.ts'
import { browserWithinMs, sharedBrowser } from './browser.ts'
import { foldStored } from './figures.ts'
import { askShared } from './first-process.ts'
import { untilShipped } from './ingest.ts'
import type { Overview } from './overview.ts'
import { patientClickHouse, patientPostgres } from './patient-clients.ts'
import type { SurfaceAnswer } from './shared-surface.ts'

export { productHost, productRoot } from './product-host.ts'

export interface TrackingSurface {
  /** Undefined where there is none: see `demand`. */
  readonly browser: Browser | undefined
  readonly pg: Postgres
  readonly ch: ClickHouse
  /** A folder of the file's own, deleted by `close`. */
  readonly folder: string
  readonly front: Front
  /** The address in the snippet of the demo site, `/demo/`. */
  demoScriptUrl: string | undefined
  makeWorkspace(): Promise<TestWorkspace>
  /** Waits until all that ingest has acknowledged is stored. */
  shipped(): Promise<void>
  /** The overview of all stored events. */
  overview(workspace: TestWorkspace): Promise<Overview>
  close(): Promise<void>
}

/** The surface of a file's tests, filled in before the first of them begins. */
export function setUpSurface(): TrackingSurface {
  const surface = {} as TrackingSurface
  beforeAll(() => startTrackingSurface(surface), browserWithinMs)
  afterAll(() => surface.close?.())
  return surface
}

async function startTrackingSurface(surface: TrackingSurface): Promise<void> {
  const [browser, running] = await Promise.all([sharedBrowser(), askShared<SurfaceAnswer>('surface')])
  const { databaseUrl, clickhouseUrl, ingestPort, apiPort } = running
  const pg = patientPostgres(databaseUrl)
  const ch = patientClickHouse(clickhouseUrl)
  const folder = mkdtempSync(join(tmpdir(), 'svc-pages-'))
  const front = await startFront({
    host: '127.0.0.1',
    port: 0,
    portOf: (service) => (service === 'ingest' ? ingestPort : apiPort),
    page: async () => '',
    demo: makeDemoSite(() => surface.demoScriptUrl),
    countryHeader: 'cf-ipcountry',
    trustedProxies: ['127.0.0.0/8'],
  })
  Object.assign(surface, {
    browser,
    pg,
    ch,
    folder,
    front,
    demoScriptUrl: undefined,
    makeWorkspace: () => askShared<TestWorkspace>('workspace'),
    shipped: () => untilShipped(`http://127.0.0.1:${ingestPort}/api/v1/growth`),
    overview: async ({ apiKey, workspaceId }) => {
      await foldStored({ pg, ch }, workspaceId)
      const headers = { Authorization: `Bearer ${apiKey}` }
      for (let tries = 1; ; tries++) {
        const answer = await fetch(`http://127.0.0.1:${apiPort}/v1/analytics/overview?hours=2`, { headers })
        if (answer.ok) return (await answer.json()) as Overview
        // Where others use the machine, an answer may miss the API's own deadline.
        if (answer.status !== 503 || tries === 5) throw new Error(`the overview answered ${answer.status}`)
      }
    },
    close: async () => {
      await browser?.close()
      await front.close()
      await Promise.all([pg.close(), ch.close()])
      // The children of a browser that was killed write on for a moment.
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
    },
  } satisfies TrackingSurface)
}
