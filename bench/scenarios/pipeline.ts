/** The pipeline's pace: people merged, webhooks delivered, and people found again. */
import { type BenchSettings, type ScenarioResult, sumCounts } from '../bench.ts'
import { delays } from './delays.ts'
import { merge } from './merge.ts'
import { peopleSearch } from './people-search.ts'
import { webhooks } from './webhooks.ts'

export async function pipeline(settings: BenchSettings): Promise<ScenarioResult> {
  const results: ScenarioResult[] = []
  for (const part of [merge, webhooks, peopleSearch, delays]) results.push(await part(settings))
  return {
    figures: results.flatMap(({ figures }) => figures),
    counts: sumCounts(results.map(({ counts = {} }) => counts)),
    remarks: results.flatMap(({ remarks }) => remarks),
    settings: Object.assign({}, ...results.map((result) => result.settings)),
    rounds: results.flatMap(({ rounds }) => rounds),
  }
}
