/** The series of one counter over the range, and over the period before at the same places. The same numbers stand in a table for those who don't see it. */
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { Chartable } from './cards.tsx'
import { money, number } from './format.ts'
import type { Overview } from './overview-data.ts'

const height = 220

type Points = NonNullable<Overview['traffic_series']>

export interface ChartProps {
  readonly points: Points
  /** Of the period that is compared with: as many buckets, or a few more or less. */
  readonly before?: Points | undefined
  readonly of: Chartable
  readonly label: string
  readonly currency: string
  readonly timezone: string
}

export function Chart({ points, before, of, label, currency, timezone }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot | null>(null)
  const shown = (value: number) => (of === 'revenue_cents' ? money(value, currency) : number(value))
  const data: UPlot.AlignedData = [
    points.map(({ start }) => Date.parse(start) / 1000),
    points.map((point) => point[of]),
    ...(before === undefined ? [] : [points.map((_, at) => before[at]?.[of] ?? null)]),
  ]
  const hasBefore = before !== undefined

  useEffect(() => {
    const style = getComputedStyle(document.documentElement)
    const color = (name: string) => style.getPropertyValue(name).trim()
    const value = (_: UPlot, counted: number | null) => (counted === null ? '–' : shown(counted))
    const axis = { stroke: color('--muted'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } }
    const made = new UPlot(
      {
        width: place.current!.clientWidth,
        height,
        tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), timezone),
        cursor: { y: false },
        scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
        axes: [
          axis,
          { ...axis, size: 60, values: (_, marks) => marks.map((mark) => (Number.isInteger(mark) ? shown(mark) : '')) },
        ],
        series: [
          { label: 'Time' },
          {
            label,
            stroke: color('--accent'),
            fill: color('--accent-soft'),
            width: 2,
            points: { show: points.length < 40 },
            value,
          },
          ...(hasBefore
            ? [{ label: 'Before', stroke: color('--muted'), dash: [4, 4], width: 1, points: { show: false }, value }]
            : []),
        ],
      },
      data,
      place.current!,
    )
    plot.current = made
    const resized = new ResizeObserver(() => made.setSize({ width: place.current!.clientWidth, height }))
    resized.observe(place.current!)
    return () => {
      resized.disconnect()
      made.destroy()
    }
  }, [of, label, timezone, points.length < 40, hasBefore])
  useEffect(() => plot.current?.setData(data), [points, before, of])

  return (
    <figure class="panel chart">
      <div ref={place} aria-hidden="true" style={{ minHeight: `${height}px` }} />
      <table class="unseen">
        <caption>{label}</caption>
        <tbody>
          {points.map((point, at) => (
            <tr key={point.start}>
              <th scope="row">{point.label}</th>
              <td>{shown(point[of])}</td>
              {before?.[at] && <td>before: {shown(before[at][of])}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
