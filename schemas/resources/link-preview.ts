/** A tracked link's own preview, in place of the destination's: title, text and image of the card that apps show for it. */
import { z } from 'zod'
import { destinationProblem } from '../event/tracking-url.ts'
import {
  linkDestinationLengthMax,
  linkPreviewDescriptionLengthMax,
  linkPreviewTitleLengthMax,
} from '../limits/api-limits.ts'
import { plainLine } from './plain-line.ts'

/** Apps fetch it for themselves, and many only by TLS. */
const imageUrl = z
  .string()
  .max(linkDestinationLengthMax)
  .superRefine((url, context) => {
    const isSecure = /^https:\/\//i.test(url)
    const message = isSecure ? destinationProblem(url) : 'The URL must begin with https:// and a host'
    if (message !== null) context.addIssue({ code: 'custom', message })
  })

/** A preview as it is sent. A change replaces the whole. */
export const LinkPreviewInput = z.strictObject({
  title: plainLine(linkPreviewTitleLengthMax).refine((title) => /\S/.test(title), 'A preview has a title'),
  description: plainLine(linkPreviewDescriptionLengthMax).default(''),
  image_url: imageUrl.nullable().default(null),
})

export const LinkPreview = z
  .object({ title: z.string(), description: z.string(), image_url: z.string().nullable() })
  .meta({ id: 'TrackedLinkPreview' })
export type LinkPreview = z.output<typeof LinkPreview>
