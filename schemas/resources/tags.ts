/** Tags that people give to posts and links, to find them by. */
import { z } from 'zod'
import { tooLong } from '../errors/validation-errors.ts'
import type { Build } from '../errors/zod-errors.ts'
import { tagsSentMax } from '../limits/api-limits.ts'

/** One tag. The `#` in front is how tags are written, not a part of them. */
export function tagOf(lengthMax: number) {
  return z.preprocess(
    (value) => (typeof value === 'string' ? value.replace(/^#+/, '') : value),
    z.string().min(1).max(lengthMax),
  )
}

/** @param max different ones @param each greatest length of a tag, in code points */
export function tagsOf({ max, each }: { readonly max: number; readonly each: number }) {
  return z
    .array(tagOf(each))
    .max(tagsSentMax)
    .superRefine((tags, context) => {
      const different = new Set(tags).size
      const build: Build = (loc, input) => tooLong(loc, input, max, different)
      if (different > max) context.addIssue({ code: 'custom', params: { build } })
    })
    .transform((tags) => [...new Set(tags)])
    .meta({ description: `Up to ${max}. Without \`#\` and repeats.` })
}
