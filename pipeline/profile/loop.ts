/** Generates company profiles for as long as the process runs, several at a time: mostly they wait for others' servers. */
import { claimProfile, type OrderedProfile } from '../../postgres/tables/workspaces/company-profiles.ts'
import { profileEveryMs, profilesAtOnce } from '../../schemas/limits/profile-limits.ts'
import type { PipelineMetrics } from '../pipeline-metrics.ts'
import { type Generating, generateOrdered } from './generate.ts'

export interface Profiler {
  /** Gives up the work under way: another process, or the next start, takes it. */
  close(): Promise<void>
}

export function startProfiler(context: Generating, metrics: PipelineMetrics): Profiler {
  const stopping = new AbortController()
  const { signal } = stopping
  const underWay = new Set<Promise<void>>()
  let timer: NodeJS.Timeout | undefined
  let isFailing = false
  let looking = look()

  async function look(): Promise<void> {
    try {
      while (underWay.size < profilesAtOnce && !signal.aborted) {
        const ordered = await claimProfile(context.pg)
        if (ordered === undefined) break
        const generating = generate(ordered).finally(() => underWay.delete(generating))
        underWay.add(generating)
      }
    } catch (error) {
      failed(error)
    }
    if (signal.aborted) return
    timer = setTimeout(() => {
      looking = look()
    }, profileEveryMs)
  }

  async function generate(ordered: OrderedProfile): Promise<void> {
    const startedAt = performance.now()
    const ended = (outcome: 'done' | 'failed') =>
      metrics.jobEnded('generate-profile', outcome, (performance.now() - startedAt) / 1000, context.clock.now())
    try {
      await generateOrdered(context, ordered, signal)
      ended('done')
      isFailing = false
    } catch (error) {
      if (!signal.aborted) ended('failed')
      failed(error)
    }
  }

  /** Said once, until one succeeds. */
  function failed(error: unknown): void {
    if (signal.aborted) return
    if (!isFailing) context.log.warn({ err: error }, 'company profiles can not be generated now')
    isFailing = true
  }

  return {
    async close() {
      stopping.abort(new Error('the pipeline is stopping'))
      clearTimeout(timer)
      await looking
      await Promise.all(underWay)
    },
  }
}
