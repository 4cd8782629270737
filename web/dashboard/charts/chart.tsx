/** The series of one counter over the range, and over the period before at the same places. The same numbers stand in a table for those who don't see it. */

import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import type { Note } from '../../../schemas/resources/note.ts'
import 'uplot/dist/uPlot.min.css'
import { brief, briefDuration, briefMoney, bucketName, duration, money, number } from '../parts/format.ts'
import type { Overview } from '../requests/answers.ts'
import type { Chartable, Days } from '../view/address.ts'
import { countEnded } from './chart-buckets.ts'
import { frameOf, keepWidth, placeHeight, placesOf, styleOf, timesOf, useColorScheme, zoomTo } from './chart-frame.ts'
import { ChartTable } from './chart-table.tsx'
import { type NotesByBucket, notesByBucket } from './note-buckets.ts'
import { drawMarks, showTip } from './note-marks.ts'

const none: readonly Note[] = []

type Points = NonNullable<Overview['traffic_series']>

export interface ChartProps {
  readonly points: Points
  /** Points of the compared period: as many buckets, or a few more or less. */
  readonly before?: Points | undefined
  /** Those of the range are marked at their buckets. */
  readonly notes?: readonly Note[]
  /** Under the chart. */
  readonly children?: ComponentChildren
  readonly of: Chartable
  readonly label: string
  readonly currency: string
  readonly timezone: string
  /** Later buckets aren't whole yet. */
  readonly asOf: string
  zoom(days: Days): void
}

export function Chart(props: ChartProps) {
  const { points, before, of, label, currency, timezone, asOf, zoom, notes = none, children } = props
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot | null>(null)
  const { shown, shortly, steps: valueSteps } = textsOf(of, currency)
  const figureOf = (point: Points[number]) => point[of] ?? 0
  const scheme = useColorScheme()
  const whole = countEnded(points, asOf)
  const data: UPlot.AlignedData = [
    placesOf(points),
    points.map((point, at) => (at < whole ? figureOf(point) : null)),
    points.map((point, at) => (at === whole || (at === whole - 1 && whole < points.length) ? figureOf(point) : null)),
    ...(before === undefined ? [] : [points.map((_, at) => before[at]?.[of] ?? null)]),
  ]
  const hasBefore = before !== undefined
  // The chart's callbacks read this: they are made once.
  const marked = useMemo(() => notesByBucket(notes, points, timezone), [notes, points, timezone])
  const now = useRef({ points, of, zoom, marked })
  now.current = { points, of, zoom, marked }

  useEffect(() => {
    // Kept: an observer may still be called when the page is gone.
    const host = place.current!
    const value = (_: UPlot, counted: number | null) => (counted === null ? '' : shown(counted))
    const exact = (_: UPlot, _counted: number | null, _series: number, at: number | null) =>
      at === null ? '' : shown(now.current.points[at]?.[now.current.of] ?? 0)
    const line = { stroke: styleOf('--accent'), width: 2, points: { show: points.length < 40 } }
    const frame = { timezone, buckets: () => now.current.points, shortly, valueSteps }
    const made = new UPlot(
      {
        ...frameOf(host, frame),
        hooks: {
          draw: [(chart) => markNotes(chart, now.current.marked)],
          setCursor: [(chart) => tellNotes(chart, now.current.marked)],
          setSelect: [(chart) => zoomTo(chart, { timezone, buckets: now.current.points, zoom: now.current.zoom })],
        },
        series: [
          timesOf(frame),
          { ...line, label, fill: styleOf('--accent-soft'), value: exact },
          { ...line, label: 'Not over yet', dash: [4, 4], class: 'unlisted' },
          ...(hasBefore
            ? [{ label: 'Before', stroke: styleOf('--muted'), dash: [4, 4], width: 1, points: { show: false }, value }]
            : []),
        ],
      },
      data,
      host,
    )
    plot.current = made
    return keepWidth(made, host)
  }, [of, label, currency, timezone, points.length < 40, hasBefore, scheme])
  useEffect(() => plot.current?.setData(data), [points, before, of, whole, marked])

  return (
    <figure class="panel chart">
      <div ref={place} aria-hidden="true" style={{ minHeight: `${placeHeight}px` }} />
      <ChartTable caption={label}>
        <tbody>
          {points.map((point, at) => (
            <tr key={point.start}>
              <th scope="row">{bucketName(points, at, timezone)}</th>
              <td>{shown(figureOf(point))}</td>
              {before?.[at] && <td>before: {shown(figureOf(before[at]))}</td>}
            </tr>
          ))}
        </tbody>
      </ChartTable>
      {children}
    </figure>
  )
}

interface ValueTexts {
  /** In full. */
  shown(value: number): string
  /** For the axis, with little room. */
  shortly(value: number): string
  /** Between marks of the axis, where they aren't those of plain numbers. */
  readonly steps?: number[]
}

function textsOf(of: Chartable, currency: string): ValueTexts {
  if (of === 'revenue_cents') {
    return { shown: (cents) => money(cents, currency), shortly: (cents) => briefMoney(cents, currency) }
  }
  if (of === 'bounce_rate') {
    const inPerCent = (value: number) => `${number(value)} %`
    return { shown: inPerCent, shortly: inPerCent }
  }
  if (of === 'average_session_seconds') return { shown: duration, shortly: briefDuration, steps: durationSteps }
  return { shown: number, shortly: brief }
}

/** Seconds. A session counts for two local days at most. */
const durationSteps = [
  1,
  2,
  5,
  10,
  15,
  30,
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_200].map((minutes) => minutes * 60),
]

function placeOf(chart: UPlot, bucket: number): number {
  return chart.valToPos(chart.data[0][bucket]!, 'x')
}

function markNotes(chart: UPlot, marked: NotesByBucket): void {
  drawMarks(
    chart.over,
    [...marked.keys()].map((bucket) => placeOf(chart, bucket)),
  )
}

/** Those of the bucket under the pointer. */
function tellNotes(chart: UPlot, marked: NotesByBucket): void {
  const bucket = chart.cursor.idx ?? -1
  const notes = marked.get(bucket)
  showTip(chart.over, notes ?? [], notes === undefined ? 0 : placeOf(chart, bucket))
}
