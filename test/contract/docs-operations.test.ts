import { expect, test } from 'vitest'
import { makeGateway } from '../../api/gateway.ts'
import { watchMetrics } from '../../ingest/service-metrics.ts'
import { makePipelineMetrics } from '../../pipeline/pipeline-metrics.ts'
import { systemClock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { type Metrics, makeMetrics } from '../../runtime/metrics.ts'
import { readDoc, tableOf } from '../support/docs.ts'

const page = readDoc('docs/operations.md')

async function namesIn(metrics: Metrics): Promise<string[]> {
  return [...(await metrics.text()).matchAll(/^# HELP (\S+)/gm)].map(([, name]) => name!)
}

/** The metrics of all services, made as their `main.ts` makes them; nothing is asked of the stores. */
async function metricsOfServices(): Promise<string[]> {
  const ingest = makeMetrics('ingest', false)
  const shipper = { backlog: () => ({ bytes: 0, segments: 0, since: 0 }) } as never
  const watched = watchMetrics(ingest)
  const shippers = { events: shipper, bot_visits: shipper, link_clicks: shipper, replay_chunks: shipper }
  watched.watchShipping(shippers, { heldHours: () => 0 } as never)
  watched.watchWindow({ heldSince: 0 } as never, systemClock)
  const pipeline = makeMetrics('pipeline', false)
  makePipelineMetrics(pipeline)
  const api = makeMetrics('api', false)
  const none = undefined as never
  const log = makeLog('api', 'silent')
  const pg = { transaction: none } as never
  makeGateway({
    ...{ operations: [], pg, ch: none, clock: systemClock, log, metrics: api, apiHost: () => '' },
    ...{
      rateLimiter: none,
      signInLimiter: none,
      box: none,
      hashes: none,
      revenueBox: none,
      idempotencyKeptMs: 1,
      answerDeadlineMs: 0,
      hashAddress: none,
      proxies: none,
    },
    ...{ media: none, mediaLimits: { imageBytesMax: 1, videoBytesMax: 1 } },
  })
  return (await Promise.all([ingest, pipeline, api].map(namesIn))).flat().sort()
}

test('docs/operations.md has every metric of the services, and no other', async () => {
  const shown = tableOf(page, '## What to watch').map(([name]) => name!.replaceAll('`', ''))
  expect(shown.sort()).toEqual(await metricsOfServices())
})

test('every metric that a page names is one of the services', async () => {
  const known = new Set(await metricsOfServices())
  const pages = [
    'README.md',
    'ARCHITECTURE.md',
    'docs/operations.md',
    'docs/settings.md',
    'docs/tracking.md',
    'docs/retention.md',
  ]
  const named = pages.flatMap(
    (path) => readDoc(path).match(/`(?:ingest|svc)_[a-z_]+(?:_total|_seconds|_hours|_bytes|_up|_jobs)\b/g) ?? [],
  )
  expect(named.length).toBeGreaterThan(20)
  expect(named.map((name) => name.slice(1)).filter((name) => !known.has(name))).toEqual([])
})
