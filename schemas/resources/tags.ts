/** Tags that people give to posts and links, to find them by. */
import { z } from 'zod'

/** One tag. The `#` in front is how tags are written, not a part of them. */
export function tagOf(lengthMax: number) {
  return z.preprocess(
    (value) => (typeof value === 'string' ? value.replace(/^#+/, '') : value),
    z.string().min(1).max(lengthMax),
  )
}

/** @param each greatest length of a tag, in code points */
export function tagsOf({ max, each }: { readonly max: number; readonly each: number }) {
  return z
    .array(tagOf(each))
    .max(max)
    .transform((tags) => [...new Set(tags)])
    .meta({ description: 'Every leading `#` and repeats are dropped.' })
}
