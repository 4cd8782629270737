/** The series of one counter over the range. The same numbers stand in a table for those who don't see it. */
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { Chartable } from './cards.tsx'
import { money, number } from './format.ts'
import type { Overview } from './overview-data.ts'

const height = 220

interface ChartProps {
  readonly points: NonNullable<Overview['traffic_series']>
  readonly of: Chartable
  readonly label: string
  readonly currency: string
  readonly timezone: string
}

export function Chart({ points, of, label, currency, timezone }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot | null>(null)
  const shown = (value: number) => (of === 'revenue_cents' ? money(value, currency) : number(value))
  const data: UPlot.AlignedData = [
    points.map(({ start }) => Date.parse(start) / 1000),
    points.map((point) => point[of]),
  ]

  useEffect(() => {
    const style = getComputedStyle(document.documentElement)
    const color = (name: string) => style.getPropertyValue(name).trim()
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
            value: (_, value) => (value === null ? '–' : shown(value)),
          },
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
  }, [of, label, timezone, points.length < 40])
  useEffect(() => plot.current?.setData(data), [points, of])

  return (
    <figure class="panel chart">
      <div ref={place} aria-hidden="true" style={{ minHeight: `${height}px` }} />
      <table class="unseen">
        <caption>{label}</caption>
        <tbody>
          {points.map((point) => (
            <tr key={point.start}>
              <th scope="row">{point.label}</th>
              <td>{shown(point[of])}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
