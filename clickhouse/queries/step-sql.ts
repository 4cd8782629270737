/** SQL of what visitors do: steps of funnels, and goals. */
import type { FunnelStep } from '../../schemas/funnel-steps.ts'
import { isLike, textOf } from './overview/selection.ts'
import { hasProperty, propertyParams, propertyValue } from './property-sql.ts'

/** SQL conditions, one for each step: an event is of it. @returns with their parameters */
export function stepsSql(steps: readonly FunnelStep[]): { conditions: string[]; params: Record<string, string> } {
  const params: Record<string, string> = {}
  const conditions = steps.map(({ kind, pattern, property }, at) => {
    const [column, which] = kind === 'path' ? ['path', "kind='pageview' AND "] : ['event_name', '']
    params[`step_${at}`] = textOf(pattern.texts)
    const isNamed = `${which}${isLike(`toString(events.${column})`, pattern.texts, `step_${at}`)}`
    if (property === undefined) return `(${isNamed})`
    const [name, value] = [`property_${at}`, `property_value_${at}`]
    Object.assign(params, propertyParams(name, property.name))
    params[value] = textOf(property.pattern.texts)
    return `(${isNamed} AND ${hasProperty(name)} AND ${isLike(propertyValue(name), property.pattern.texts, value)})`
  })
  return { conditions, params }
}
