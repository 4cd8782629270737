/** The chart with the series of the compared period under it, and with notes. Both are asked for apart. */
import type { Note } from '../../../schemas/resources/note.ts'
import { dayAfter, dayMs } from '../parts/calendar-days.ts'
import type { Overview } from '../requests/answers.ts'
import { useAnswer } from '../requests/query.ts'
import { comparedQuestionOf, type Days, lengthOf, localDay, notesQuestionOf, type View } from '../view/address.ts'
import { Chart, type ChartProps } from './chart.tsx'
import { Notes } from './notes.tsx'

interface ComparedChartProps extends ChartProps {
  readonly view: View
  readonly metrics: Overview['metrics']
  /** The figures are another view's: the compared period isn't known yet. */
  readonly isStale: boolean
}

/** It is of the past: only late events change it. */
const pastMs = 60_000
/** Others write few. */
const notesMs = 60_000

export function ComparedChart({ view, metrics, isStale, ...chart }: ComparedChartProps) {
  const { previous_range: before, range } = metrics
  const question =
    before === null || isStale
      ? undefined
      : `/analytics/overview?${comparedQuestionOf(view, periodOf(view, before, range.timezone), range.bucket)}`
  const compared = useAnswer<Overview>(question, { againMs: pastMs })
  const { answer: notes, failure } = useAnswer<readonly Note[]>(`/notes?${notesQuestionOf(view)}`, { againMs: notesMs })
  return (
    <Chart {...chart} {...(notes && { notes })} before={compared.isStale ? undefined : compared.answer?.traffic_series}>
      <Notes notes={notes} failure={failure} range={range} />
    </Chart>
  )
}

/** Whole local days, unless moments were chosen. */
function periodOf({ days, compare }: View, { start, end }: { start: string; end: string }, timezone: string): Days {
  if (days?.from.includes('T')) return { from: start, to: end }
  // A range that ends now has a period before it that begins at any hour: whole days stand at the same places.
  if (days && compare === 'previous') return { from: dayAfter(days.from, -lengthOf(days)), to: dayAfter(days.from, -1) }
  // As many hours before, over a change of the clock, may be an hour beside a midnight.
  const from = localDay(Date.parse(start) + dayMs / 2, timezone)
  // The end is the first moment that isn't of the period any more.
  return { from, to: localDay(Date.parse(end) - 1, timezone) }
}
