/** The pipeline's pace: people merged, webhooks delivered, and people found again. */
import type { BenchSettings, EventCounts, ScenarioResult } from '../bench.ts'
import { delays } from './delays.ts'
import { merge } from './merge.ts'
import { peopleSearch } from './people-search.ts'
import { webhooks } from './webhooks.ts'

export async function pipeline(settings: BenchSettings): Promise<ScenarioResult> {
  const results: ScenarioResult[] = []
  for (const part of [merge, webhooks, peopleSearch, delays]) results.push(await part(settings))
  const sum = (name: keyof EventCounts) => results.reduce((all, { counts }) => all + (counts?.[name] ?? 0), 0)
  return {
    figures: results.flatMap(({ figures }) => figures),
    counts: {
      ...{ sent: sum('sent'), acknowledged: sum('acknowledged') },
      ...{ stored: sum('stored'), repeated: sum('repeated') },
    },
    remarks: results.flatMap(({ remarks }) => remarks),
    settings: Object.assign({}, ...results.map((result) => result.settings)),
    rounds: results.flatMap(({ rounds }) => rounds),
  }
}
