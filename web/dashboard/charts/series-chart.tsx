/**
 * Several counts over the same buckets, a line for each. The same numbers stand in a table for those who don't see it. The
 * overview's chart brings the style of uPlot for all pages.
 */
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import { brief, bucketName, number } from '../parts/format.ts'
import type { Days } from '../view/address.ts'
import type { ChartBucket } from './chart-buckets.ts'
import { frameOf, keepWidth, placeHeight, placesOf, styleOf, timesOf, useColorScheme, zoomTo } from './chart-frame.ts'
import { ChartTable } from './chart-table.tsx'

export interface ChartLine {
  readonly label: string
  /** A value for each bucket. */
  readonly values: readonly number[]
  /** Its colour and stroke: a number below `eventSeriesRowsMax`. */
  readonly look: number
}

interface SeriesChartProps {
  readonly buckets: readonly ChartBucket[]
  readonly lines: readonly ChartLine[]
  readonly label: string
  readonly timezone: string
  zoom(days: Days): void
}

/** Pixels of the button under a chart. */
const tableLinkHeight = 27

const colours = ['--accent', '--bad', '--good', '--middling', '--fifth'] as const

/** The name of a line's colour in the style sheet, and whether the line is dashed: colours come twice. */
export function lookOf(look: number): { readonly colour: string; readonly isDashed: boolean } {
  return { colour: colours[look % colours.length]!, isDashed: look >= colours.length }
}

export function SeriesChart({ buckets, lines, label, timezone, zoom }: SeriesChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot | null>(null)
  const scheme = useColorScheme()
  // The chart's callbacks read this: they are made once.
  const now = useRef({ buckets, zoom })
  now.current = { buckets, zoom }
  const data: UPlot.AlignedData = [placesOf(buckets), ...lines.map(({ values }) => [...values])]
  const looks = JSON.stringify(lines.map(({ label, look }) => [label, look]))
  const hasPoints = buckets.length < 40
  useEffect(() => {
    const host = place.current!
    const frame = { timezone, buckets: () => now.current.buckets, shortly: brief }
    const made = new UPlot(
      {
        ...frameOf(host, frame),
        legend: { markers: { dash: (_, at) => (lookOf(lines[at - 1]?.look ?? 0).isDashed ? 'dashed' : 'solid') } },
        hooks: { setSelect: [(chart) => zoomTo(chart, { timezone, ...now.current })] },
        series: [
          timesOf(frame),
          ...lines.map((line): UPlot.Series => {
            const { colour, isDashed } = lookOf(line.look)
            return {
              label: line.label,
              stroke: styleOf(colour),
              width: 2,
              points: { show: hasPoints },
              ...(isDashed && { dash: [6, 4] }),
              value: (_, value) => (value === null ? '' : number(value)),
            }
          }),
        ],
      },
      data,
      host,
    )
    plot.current = made
    return keepWidth(made, host)
  }, [looks, timezone, hasPoints, scheme])
  useEffect(() => plot.current?.setData(data), [buckets, lines])
  return (
    <figure class="panel chart lines">
      <div ref={place} aria-hidden="true" style={{ minHeight: `${placeHeight}px` }} />
      <ChartTable caption={label}>
        <thead>
          <tr>
            <th scope="col">Begin</th>
            {lines.map((line) => (
              <th key={line.look} scope="col">
                <bdi>{line.label}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {buckets.map((bucket, at) => (
            <tr key={bucket.start}>
              <th scope="row">{bucketName(buckets, at, timezone)}</th>
              {lines.map(({ look, values }) => (
                <td key={look}>{number(values[at] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </ChartTable>
    </figure>
  )
}

/** As high as a chart whose table isn't shown, with the note under it. */
export function AwaitedChart() {
  return (
    <>
      <div class="panel chart">
        <div style={{ minHeight: `${placeHeight + tableLinkHeight}px` }} />
      </div>
      <p class="note">…</p>
    </>
  )
}
