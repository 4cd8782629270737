/** Readers of how posts do, on a clock that is held. */
import { readEngagement } from '../../pipeline/engagement/read-engagement.ts'
import { makePipelineMetrics } from '../../pipeline/pipeline-metrics.ts'
import { makeRenewals } from '../../pipeline/publishing/account-session.ts'
import { makeCredentialsBox } from '../../pipeline/publishing/adapters.ts'
import type { Clock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { makeMetrics } from '../../runtime/metrics.ts'
import { sleep } from '../../runtime/retry.ts'
import type { asking, ShownPost } from './publishing.ts'
import type { TestStores } from './stores.ts'

/** One process. */
export function engagementReader({ pg, secretKey }: Pick<TestStores, 'pg' | 'secretKey'>, clock: Clock) {
  const metrics = makeMetrics('pipeline', false)
  const context = {
    pg,
    clock,
    box: makeCredentialsBox(secretKey),
    renewals: makeRenewals(),
    log: makeLog('test', 'silent'),
    sleep,
    fetching: { agent: undefined as never, allowPrivate: true },
    metrics: makePipelineMetrics(metrics),
  }
  const stopping = new AbortController()
  return {
    read: () => readEngagement(context, stopping.signal),
    stop: () => stopping.abort(new Error('the test stops it')),
    /** Posts that were asked for, by outcome. */
    async counts(): Promise<Record<string, number>> {
      const lines = (await metrics.text()).matchAll(/^svc_engagement_reads_total\{.*outcome="(\w+)".*\} (\d+)$/gm)
      return Object.fromEntries([...lines].map(([, outcome, count]) => [outcome, Number(count)]))
    },
  }
}

/** A post with what its networks say of it. */
export interface MeasuredPost extends Omit<ShownPost, 'targets'> {
  readonly targets: (ShownPost['targets'][number] & { readonly engagement: Record<string, unknown> | null })[]
  readonly engagement: Record<string, unknown>
}

export const readMeasured = async (ask: ReturnType<typeof asking>, id: number): Promise<MeasuredPost> =>
  (await ask<MeasuredPost>('GET', `/v1/posts/${id}`)).body
