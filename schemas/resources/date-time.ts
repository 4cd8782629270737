/** Moments in answers: UTC, with milliseconds and `Z`. */
import { z } from 'zod'

export const dateTime = z.string().meta({ format: 'date-time' })
