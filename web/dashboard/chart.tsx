/** The series of one counter over the range, and over the period before at the same places. The same numbers stand in a table for those who don't see it. */

import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import UPlot from 'uplot'
import type { Note } from '../../schemas/resources/note.ts'
import { dayMs } from './calendar-days.ts'
import 'uplot/dist/uPlot.min.css'
import { type Chartable, type Days, daysOf, localDay } from './address.ts'
import { brief, briefDuration, briefMoney, duration, localMoment, money, number, timeMark } from './format.ts'
import { type NotesByBucket, notesByBucket } from './note-buckets.ts'
import { drawMarks, showTip } from './note-marks.ts'
import type { Overview } from './overview-data.ts'

const height = 220
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
  const whole = wholeOf(points, asOf)
  const data: UPlot.AlignedData = [
    points.map(({ start }) => Date.parse(start) / 1000),
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
    const style = getComputedStyle(document.documentElement)
    const color = (name: string) => style.getPropertyValue(name).trim()
    const value = (_: UPlot, counted: number | null) => (counted === null ? '' : shown(counted))
    const exact = (_: UPlot, _counted: number | null, _series: number, at: number | null) =>
      at === null ? '' : shown(now.current.points[at]?.[now.current.of] ?? 0)
    const line = { stroke: color('--accent'), width: 2, points: { show: points.length < 40 } }
    const font = `12px ${getComputedStyle(document.body).fontFamily}`
    const axis = { font, stroke: color('--muted'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } }
    const made = new UPlot(
      {
        width: host.clientWidth,
        height,
        tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), timezone),
        cursor: { y: false, drag: { x: true, y: false, setScale: false } },
        hooks: {
          draw: [(chart) => markNotes(chart, now.current.marked)],
          setCursor: [(chart) => tellNotes(chart, now.current.marked)],
          setSelect: [(chart) => zoomTo(chart, timezone, now.current)],
        },
        scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
        // The last mark may stand at the end: half of it lies beyond.
        padding: [null, markPixels / 2, null, null],
        axes: [
          {
            ...axis,
            space: markPixels,
            incrs: () => stepsOf(now.current.points),
            values: (_, marks, __, ___, step) => marks.map((mark) => timeMark(mark * 1000, step, timezone)),
          },
          {
            ...axis,
            ...(valueSteps && { incrs: valueSteps }),
            size: (_, marks) => widthOf(marks ?? []),
            values: (_, marks) => marks.map((mark) => (Number.isInteger(mark) ? shortly(mark) : '')),
          },
        ],
        series: [
          { label: '', value: (_, __, ___, at) => (at === null ? '' : timeOf(now.current.points[at], timezone)) },
          { ...line, label, fill: color('--accent-soft'), value: exact },
          { ...line, label: 'Not over yet', dash: [4, 4], class: 'unlisted' },
          ...(hasBefore
            ? [{ label: 'Before', stroke: color('--muted'), dash: [4, 4], width: 1, points: { show: false }, value }]
            : []),
        ],
      },
      data,
      host,
    )
    plot.current = made
    const resized = new ResizeObserver(() => made.setSize({ width: host.clientWidth, height }))
    resized.observe(host)
    return () => {
      resized.disconnect()
      made.destroy()
    }
  }, [of, label, currency, timezone, points.length < 40, hasBefore, scheme])
  useEffect(() => plot.current?.setData(data), [points, before, of, whole, marked])

  return (
    <figure class="panel chart">
      <div ref={place} aria-hidden="true" style={{ minHeight: `${height}px` }} />
      <div class="unseen">
        <table>
          <caption>{label}</caption>
          <tbody>
            {points.map((point, at) => (
              <tr key={point.start}>
                <th scope="row">{point.label}</th>
                <td>{shown(figureOf(point))}</td>
                {before?.[at] && <td>before: {shown(figureOf(before[at]))}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
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
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_200].map((minutes) => minutes * 60),
]

/** Pixels of a mark of time at least, and of a sign of a number with what stands beside it. */
const markPixels = 70

const [hour, day] = [3_600, 86_400]
/** Steps between marks in seconds. A step of 30 or 365 days is a month or a year for uPlot. */
const steps = [
  ...[1, 2, 3, 4, 6, 8, 12].map((hours) => hours * hour),
  ...[1, 2, 3, 4, 5, 7, 10, 15, 30, 60, 90, 120, 180, 365, 730, 1825].map((days) => days * day),
]

/** None between two points: a day of 23 hours counts as one. */
function stepsOf(points: Points): number[] {
  const [first, second] = points
  const isByHours = first && second && Date.parse(second.start) - Date.parse(first.start) < 2 * hour * 1000
  return isByHours ? steps : steps.filter((step) => step >= day)
}
const [signPixels, besidePixels] = [7.5, 16]

function widthOf(labels: readonly string[]): number {
  return besidePixels + signPixels * Math.max(4, ...labels.map(({ length }) => length))
}

/** The colors that a chart is drawn with are those of the moment: another scheme draws it anew. */
function useColorScheme(): boolean {
  const query = matchMedia('(prefers-color-scheme: dark)')
  const [isDark, setDark] = useState(query.matches)
  useEffect(() => {
    const onChange = () => setDark(query.matches)
    query.addEventListener('change', onChange)
    return () => query.removeEventListener('change', onChange)
  }, [])
  return isDark
}

/** When a bucket begins, with its weekday; of hours with the time of day. */
function timeOf(point: Points[number] | undefined, timeZone: string): string {
  if (point === undefined) return ''
  const isHour = Date.parse(point.end) - Date.parse(point.start) < dayMs / 2
  const day = { weekday: 'short', month: 'short', day: 'numeric' } as const
  const format = new Intl.DateTimeFormat(undefined, {
    ...{ timeZone, ...day },
    ...(isHour && { hour: '2-digit', minute: '2-digit' }),
  })
  return format.format(Date.parse(point.start))
}

/** How many buckets are over: the one that holds the present isn't. */
function wholeOf(points: Points, asOf: string): number {
  const nowIsh = Date.parse(asOf) - answeredWithinMs
  const at = points.findIndex(({ end }) => Date.parse(end) > nowIsh)
  return at === -1 ? points.length : at
}

/** A range that ends now ends a little after the moment that its figures are of. */
const answeredWithinMs = 60_000
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

/** Shorter ones are clicks. */
const dragPixelsMin = 8

/** To the buckets that were dragged over: local days, or of hours moments. */
function zoomTo(chart: UPlot, timezone: string, { points, zoom }: { points: Points; zoom(days: Days): void }): void {
  const { left, width } = chart.select
  if (width < dragPixelsMin) return
  const [first, last] = [left, left + width].map((pixel) => chart.posToIdx(pixel))
  const [start, end] = [points[first!]?.start, points[last!]?.end]
  chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
  if (start === undefined || end === undefined) return
  const isHours = Date.parse(points[0]!.end) - Date.parse(points[0]!.start) < dayMs / 2 && points.length > 1
  const days = isHours
    ? daysOf(localMoment(start, timezone), localMoment(end, timezone))
    : daysOf(localDay(Date.parse(start), timezone), localDay(Date.parse(end) - 1, timezone))
  if (days !== null) zoom(days)
}
