/** A funnel stands in the address of its page, beside range and filters: steps and the time for them. Pure; test/unit/funnel-address.test.ts. */
import { funnelDaysDefault, funnelStepsMax, funnelStepsMin } from '../../../schemas/limits/overview-limits.ts'
import { listQuestionOf, type View, writeView } from '../view/address.ts'

export const stepKinds = { path: 'Page', event: 'Event' } as const
export type StepKind = keyof typeof stepKinds

/** A value as the API takes it: with signs. */
export interface Step {
  readonly kind: StepKind
  readonly value: string
}

export interface FunnelView {
  readonly steps: readonly Step[]
  /** Days, or `session`. */
  readonly within: string
}

const withinDefault = String(funnelDaysDefault)
export const withins: Readonly<Record<string, string>> = {
  session: 'in one session',
  1: 'within a day',
  3: 'within 3 days',
  7: 'within 7 days',
  14: 'within 14 days',
  30: 'within 30 days',
}

/** `within` in words. */
export function withinLabel(within: string): string {
  return withins[within] ?? `within ${within} days`
}

/** Whatever isn't known is as if it weren't there. */
export function readFunnel(search: string): FunnelView {
  const params = new URLSearchParams(search)
  const within = params.get('within') ?? withinDefault
  return {
    steps: stepsOf(params.getAll('step')).slice(0, funnelStepsMax),
    within: /^(session|[1-9]|[12][0-9]|30)$/.test(within) ? within : withinDefault,
  }
}

/** Steps as the API has them. */
export function stepsOf(texts: readonly string[]): Step[] {
  return texts.flatMap((text) => {
    const [, kind, value] = /^(path|event):([\s\S]+)$/.exec(text) ?? []
    return value === undefined ? [] : [{ kind: kind as StepKind, value }]
  })
}

export function textOf({ kind, value }: Step): string {
  return `${kind}:${value}`
}

/** The address of the page. */
export function writeFunnel(view: View, funnel: FunnelView): string {
  const [own, others] = [paramsOf(funnel), writeView(view).slice(1)]
  const query = [own, others].filter((text) => text !== '').join('&')
  return `/dashboard/funnels${query === '' ? '' : `?${query}`}`
}

/** The path that asks the API; undefined where there are too few steps. */
export function funnelQuestionOf(view: View, funnel: FunnelView): string | undefined {
  if (funnel.steps.length < funnelStepsMin) return undefined
  return `/analytics/funnel?${paramsOf(funnel)}&${listQuestionOf(view)}`
}

function paramsOf({ steps, within }: FunnelView): string {
  const params = new URLSearchParams(steps.map((step): [string, string] => ['step', textOf(step)]))
  if (within !== withinDefault) params.set('within', within)
  return params.toString()
}

/** A typed text, as the API takes it: a star is any text, and nothing is negated. Names may begin or end with a blank. */
export function typedValue(text: string): string {
  return text.trim() === '' ? '' : text.replace(/^!/, '\\!')
}
