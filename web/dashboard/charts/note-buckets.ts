/** Which bucket of the chart a note marks, and when it was in words. Pure; test/unit/note-buckets.test.ts. */
import type { Note } from '../../../schemas/resources/note.ts'
import { dayInWords } from '../parts/calendar-days.ts'
import { timeOfDay } from '../parts/format.ts'
import type { Overview } from '../requests/answers.ts'

type Points = NonNullable<Overview['traffic_series']>

/** By number of a bucket. */
export type NotesByBucket = ReadonlyMap<number, readonly Note[]>

/** A note stands in the first bucket that has a part of its minute, or of its day. */
export function notesByBucket(notes: readonly Note[], points: Points, timeZone: string): NotesByBucket {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  const local = (moment: number) => format.format(moment).replace(' ', 'T')
  // Minutes by the wall clock, as notes have them. Clocks that skip midnight leave a bucket's last minute alone.
  const buckets = notes.length === 0 ? [] : points.map(({ end }) => local(Date.parse(end) - 1))
  const first = points[0] && local(Date.parse(points[0].start))
  const found = new Map<number, Note[]>()
  for (const note of notes) {
    const at = buckets.findIndex((last) => last >= `${note.day}T${note.time ?? '00:00'}`)
    // Notes of another range may stay for a moment.
    if (at < 0 || `${note.day}T${note.time ?? '23:59'}` < first!) continue
    found.set(at, [...(found.get(at) ?? []), note])
  }
  return found
}

/** When it was: the day, with the time where it has one. */
export function noteTime({ day, time }: Note): string {
  return dayInWords(day, { dateStyle: 'medium' }) + (time === null ? '' : `, ${timeOfDay(time)}`)
}
