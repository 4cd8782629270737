/**
 * The page that a flow is of, as a query has it: `path=/pricing`. It stands in place of the filter of that name, whose values with
 * `!` it takes beside the page.
 */
import { z } from 'zod'
import { valueError } from './errors/validation-errors.ts'
import { readablePath } from './event/readable-path.ts'
import type { FunnelStep } from './funnel-steps.ts'
import { repeated } from './lax.ts'
import { filterValuesMax } from './limits/overview-limits.ts'
import { filterValue, readPattern } from './session-filters.ts'

const isNot = (value: string) => value.startsWith('!')

/** A member of an operation's query: one page, and pages that no counted session has. */
export const pageOfFlow = repeated(
  z
    .array(filterValue('path'))
    .min(1)
    .max(filterValuesMax)
    .superRefine((values, context) => {
      if (values.filter((value) => !isNot(value)).length === 1) return
      const build = (loc: never, input: unknown) => valueError(loc, input, 'there is one page; others begin with !')
      context.addIssue({ code: 'custom', params: { build } })
    })
    .meta({
      description: 'The page, `*` is any text. With `!` before it: sessions that viewed that page are left out.',
    }),
)

/** @param values that `pageOfFlow` took */
export function readPageOfFlow(values: readonly string[]): { page: FunnelStep; unwanted: readonly string[] } {
  const value = values.find((one) => !isNot(one))!
  return {
    page: { kind: 'path', value, pattern: readPattern(readablePath(value)) },
    unwanted: values.filter(isNot),
  }
}
