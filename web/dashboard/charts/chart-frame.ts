/** The parts that charts over time share: axes, the colours of the moment, and a range that is dragged over. */
import { useEffect, useState } from 'preact/hooks'
import UPlot from 'uplot'
import { localMoment, offsetMark, timeMarks } from '../parts/format.ts'
import { type Days, daysOf, localDay } from '../view/address.ts'
import type { ChartBucket } from './chart-buckets.ts'

/** Pixels. */
const chartHeight = 220
/** Pixels that a chart takes with its legend, also before it is drawn: what stands below keeps its place then. */
export const placeHeight = chartHeight + 30

interface Frame {
  readonly timezone: string
  /** Those that are shown at the moment of the call. */
  buckets(): readonly ChartBucket[]
  /** A value for the axis, with little room. */
  shortly(value: number): string
  /** Between marks of the axis of values, where they aren't those of plain numbers. */
  readonly valueSteps?: number[] | undefined
}

/** A colour or another value that the style sheet names. */
export function styleOf(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

/** Options of a chart in that place, without its series and hooks. */
export function frameOf(host: HTMLElement, { timezone, buckets, shortly, valueSteps }: Frame) {
  const font = `12px ${getComputedStyle(document.body).fontFamily}`
  const axis = {
    font,
    stroke: styleOf('--muted'),
    grid: { stroke: styleOf('--line'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: host.clientWidth,
    height: chartHeight,
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), timezone),
    cursor: { y: false, drag: { x: true, y: false, setScale: false } },
    scales: {
      x: { range: (_, first, last) => spanOf(buckets(), first, last) },
      y: { range: (_, least, most) => valuesShown(least, most) },
    },
    // The last mark may stand at the end: half of it lies beyond.
    padding: [null, markPixels / 2, null, null],
    axes: [
      {
        ...axis,
        space: markPixels,
        size: marksHeight,
        incrs: () => stepsOf(buckets()),
        values: (_, marks, __, ___, step) => {
          const moments = marks.map((mark) => mark * 1000)
          return timeMarks(moments, step, timezone)
        },
      },
      {
        ...axis,
        ...(valueSteps && { incrs: valueSteps }),
        size: (_, marks) => widthOf(marks ?? []),
        values: (_, marks) => marks.map((mark) => (Number.isInteger(mark) ? shortly(mark) : '')),
      },
    ],
  } satisfies Omit<UPlot.Options, 'series'>
}

/** With zero and some room: refunds take a day's revenue below it. @param least null without values, as `most` */
function valuesShown(least: number | null, most: number | null): UPlot.Range.MinMax {
  return [Math.min(0, (least ?? 0) * 1.1), Math.max(1, (most ?? 0) * 1.1)]
}

/** The series of buckets, whose value is when the one under the pointer begins. */
export function timesOf({ timezone, buckets }: Pick<Frame, 'timezone' | 'buckets'>): UPlot.Series {
  return { label: '', value: (_, __, ___, at) => (at === null ? '' : timeOf(buckets(), at, timezone)) }
}

/** Where buckets begin, as data of the chart. */
export function placesOf(buckets: readonly ChartBucket[]): number[] {
  return buckets.map(({ start }) => Date.parse(start) / 1000)
}

/** Keeps the chart as wide as its place. @returns ends that, and the chart */
export function keepWidth(chart: UPlot, host: HTMLElement): () => void {
  const resized = new ResizeObserver(() => chart.setSize({ width: host.clientWidth, height: chartHeight }))
  resized.observe(host)
  return () => {
    resized.disconnect()
    chart.destroy()
  }
}

/** Pixels of a mark of time at least, and of a sign of a number with what stands beside it. */
const markPixels = 70
/** Below the chart, for a line of marks. */
const marksHeight = 28
const [signPixels, besidePixels] = [7.5, 16]

const [hour, day] = [3_600, 86_400]
/** Steps between marks in seconds. A step of 30 or 365 days is a month or a year for uPlot. */
const steps = [
  ...[1, 2, 3, 4, 6, 8, 12].map((hours) => hours * hour),
  ...[1, 2, 3, 4, 5, 7, 10, 15, 30, 60, 90, 120, 180, 365, 730, 1825].map((days) => days * day),
]

/** The length tells nothing: the range's ends cut buckets. Labels of hours alone have the time of day. */
function isHour({ label }: ChartBucket): boolean {
  return label.includes(':')
}

/** None between two points: a day of 23 hours counts as one. */
function stepsOf([first]: readonly ChartBucket[]): number[] {
  return first && isHour(first) ? steps : steps.filter((step) => step >= day)
}

/** Without it a single point would stand before years to come. */
function spanOf([only, second]: readonly ChartBucket[], first: number, last: number): UPlot.Range.MinMax {
  return only && second === undefined ? [first, Date.parse(only.end) / 1000] : [first, last]
}

function widthOf(labels: readonly string[]): number {
  return besidePixels + signPixels * Math.max(4, ...labels.map(({ length }) => length))
}

/** The colors that a chart is drawn with are those of the moment: another scheme draws it anew. */
export function useColorScheme(): boolean {
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
function timeOf(buckets: readonly ChartBucket[], at: number, timeZone: string): string {
  const bucket = buckets[at]
  if (bucket === undefined) return ''
  const day = { weekday: 'short', month: 'short', day: 'numeric' } as const
  const format = new Intl.DateTimeFormat(undefined, {
    timeZone,
    ...day,
    ...(isHour(bucket) && { hour: '2-digit', minute: '2-digit' }),
  })
  return format.format(Date.parse(bucket.start)) + offsetMark(buckets, at, timeZone)
}

/** Shorter ones are clicks. */
const dragPixelsMin = 8

interface Zoomed {
  readonly timezone: string
  readonly buckets: readonly ChartBucket[]
  zoom(days: Days): void
}

/** To the buckets that were dragged over: local days, or of hours moments. */
export function zoomTo(chart: UPlot, { timezone, buckets, zoom }: Zoomed): void {
  const { left, width } = chart.select
  if (width < dragPixelsMin) return
  const [first, last] = [left, left + width].map((pixel) => chart.posToIdx(pixel))
  const [start, end] = [buckets[first!]?.start, buckets[last!]?.end]
  chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
  if (start === undefined || end === undefined) return
  const isHours = isHour(buckets[0]!) && buckets.length > 1
  const days = isHours
    ? daysOf(localMoment(start, timezone), localMoment(end, timezone))
    : daysOf(localDay(Date.parse(start), timezone), localDay(Date.parse(end) - 1, timezone))
  if (days !== null) zoom(days)
}
