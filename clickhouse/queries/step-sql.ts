/** SQL of what visitors do: steps of funnels, and goals. */
import type { FunnelStep } from '../../schemas/funnel-steps.ts'
import { isLike, textOf } from './overview/selection.ts'

/** SQL conditions, one for each step: an event is of it. @returns with their parameters */
export function stepsSql(steps: readonly FunnelStep[]): { conditions: string[]; params: Record<string, string> } {
  const conditions = steps.map(({ kind, pattern }, at) => {
    const [column, which] = kind === 'path' ? ['path', "kind='pageview' AND "] : ['event_name', '']
    return `(${which}${isLike(`toString(events.${column})`, pattern.texts, `step_${at}`)})`
  })
  const params = Object.fromEntries(steps.map(({ pattern }, at) => [`step_${at}`, textOf(pattern.texts)]))
  return { conditions, params }
}
