/** Where a short link, or a short domain without one, may lead. */
import { z } from 'zod'
import { destinationProblem } from '../event/tracking-url.ts'
import { linkDestinationLengthMax, linkDestinationLengthMin } from '../limits/api-limits.ts'

export const destinationUrl = z
  .string()
  .min(linkDestinationLengthMin)
  .max(linkDestinationLengthMax)
  .superRefine((url, context) => {
    const message = destinationProblem(url)
    if (message !== null) context.addIssue({ code: 'custom', message })
  })
