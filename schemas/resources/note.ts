/** Notes: what happened on a day, such as a release. They stand beside the figures and change none. */
import { z } from 'zod'
import { valueError } from '../errors/validation-errors.ts'
import { noteTextLengthMax } from '../limits/note-limits.ts'
import { parseDateTime } from '../time/date-time.ts'
import { dateTime } from './date-time.ts'
import { objectId } from './object-id.ts'
import { nameOf } from './plain-line.ts'
import { timeOfDay } from './posting-times.ts'

const day = z
  .string()
  .superRefine((text, context) => {
    const build = (loc: never) => {
      const read = parseDateTime(loc, text)
      return read.ok ? valueError(loc, text, 'a day is written YYYY-MM-DD, without a time') : read.error
    }
    const read = parseDateTime([], text)
    if (!read.ok || !read.value.isDate) context.addIssue({ code: 'custom', params: { build } })
  })
  .meta({ description: "Local to the workspace's timezone.", examples: ['2026-11-20'] })

const time = timeOfDay.nullable()
const timeMeaning = 'Hour and minute of the day. Null: the whole day.'
const text = nameOf(noteTextLengthMax).meta({ examples: ['Release 2.1'] })

export const NoteCreate = z
  .object({ day, time: time.default(null).describe(timeMeaning), text })
  .meta({ id: 'NoteCreate' })

export const NoteUpdate = z
  .object({ day, time: time.describe(timeMeaning), text })
  .partial()
  .meta({ id: 'NoteUpdate' })

export const Note = z
  .object({
    id: z.int(),
    object_id: objectId('note'),
    day: z.string(),
    time: z.string().nullable(),
    text: z.string(),
    created_at: dateTime,
  })
  .meta({ id: 'Note' })
export type Note = z.output<typeof Note>
