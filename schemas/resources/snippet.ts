/** Snippets: saved texts that are put into captions, such as groups of hashtags and signatures. */
import { z } from 'zod'
import { snippetNameLengthMax, snippetTextLengthMax } from '../limits/snippet-limits.ts'
import { dateTime } from './date-time.ts'
import { objectId } from './object-id.ts'
import { nameOf } from './plain-line.ts'

const name = nameOf(snippetNameLengthMax)
/** It may have lines, and begin or end with blanks. */
const text = z
  .string()
  .min(1)
  .max(snippetTextLengthMax)
  .refine((written) => written.trim() !== '', 'the text must not be blank')
  .meta({ examples: ['#spring #sale'] })

export const SnippetCreate = z.object({ name, text }).meta({ id: 'SnippetCreate' })
export const SnippetUpdate = z
  .object({ name: name.meta({ examples: ['Hashtags of spring'] }), text })
  .partial()
  .meta({ id: 'SnippetUpdate' })

export const Snippet = z
  .object({
    id: z.int(),
    object_id: objectId('snippet'),
    name: z.string(),
    text: z.string(),
    created_at: dateTime,
  })
  .meta({ id: 'Snippet' })
export type Snippet = z.output<typeof Snippet>
