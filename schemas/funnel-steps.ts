/**
 * Steps of a funnel, as a query has them: `path:/pricing`, `event:sign*`. Behind the colon stands a text as filters take it,
 * which can't be negated. Held by test/unit/funnel-address.test.ts and test/property/funnel.test.ts.
 */
import { z } from 'zod'
import { valueError } from './errors/validation-errors.ts'
import { readablePath } from './event/readable-path.ts'
import { repeated } from './lax.ts'
import {
  filterTextLengthMax,
  filterWildcardsMax,
  funnelDaysDefault,
  funnelDaysMax,
  funnelStepsMax,
  funnelStepsMin,
} from './limits/overview-limits.ts'
import { type FilterPattern, readPattern } from './session-filters.ts'

export const funnelStepKinds = ['path', 'event'] as const
export type FunnelStepKind = (typeof funnelStepKinds)[number]

export interface FunnelStep {
  readonly kind: FunnelStepKind
  /** As it was sent. */
  readonly value: string
  readonly pattern: FilterPattern
  /** Only events with it; goals alone may have one. */
  readonly property?: { readonly name: string; readonly pattern: FilterPattern } | undefined
}

/** Undefined where the text is of no kind, or names nothing. */
export function readStep(text: string): FunnelStep | undefined {
  const at = text.indexOf(':')
  const kind = funnelStepKinds.find((known) => known === text.slice(0, at))
  const value = text.slice(at + 1)
  if (kind === undefined || value === '') return undefined
  return { kind, value, pattern: readPattern(kind === 'path' ? readablePath(value) : value) }
}

function faultOf(text: string): string | undefined {
  const step = readStep(text)
  if (step === undefined) return 'a step is path: or event: with a text behind it'
  return patternFault('a step', step.pattern)
}

/** Why a text can't be what somebody did. @param noun what it is */
export function patternFault(noun: string, { isNot, texts }: FilterPattern): string | undefined {
  if (isNot) return `${noun} can not be negated; a backslash before ! makes it a plain character`
  return texts.length - 1 > filterWildcardsMax ? `${noun} has at most ${filterWildcardsMax} wildcards` : undefined
}

const step = z
  .string()
  .max(filterTextLengthMax)
  .superRefine((text, context) => {
    const fault = faultOf(text)
    if (fault === undefined) return
    context.addIssue({ code: 'custom', params: { build: (loc: never) => valueError(loc, text, fault) } })
  })

export const funnelSteps = z.array(step).min(funnelStepsMin).max(funnelStepsMax).meta({
  description: '`path:/pricing` or `event:signup`; `*` is any text. In order.',
})

/** The time for all steps. @param otherwise where it is left out; without it, it may not be */
export function funnelWithin(otherwise?: string) {
  const within = z.string().regex(/^(session|[1-9]|[12][0-9]|30)$/)
  return z.preprocess(
    // JSON may have it as a number.
    (value) => (typeof value === 'number' ? String(value) : value),
    (otherwise === undefined ? within : within.default(otherwise)).meta({
      description: `Days from the first step, 1 to ${funnelDaysMax}, or \`session\`.`,
      ...(otherwise === undefined && { examples: ['session'] }),
    }),
  )
}

/** Members of an operation's query. */
export const funnelParameters = {
  step: repeated(funnelSteps),
  within: funnelWithin(String(funnelDaysDefault)),
}
