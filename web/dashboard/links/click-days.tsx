/** Clicks of the last days as bars, each with its number on hover; the same numbers in a table for those who don't see them. */

import { ChartTable } from '../charts/chart-table.tsx'
import { dayInWords } from '../parts/calendar-days.ts'
import { number } from '../parts/format.ts'

interface ClickDaysProps {
  /** The name of the link. */
  readonly label: string
  readonly days: readonly { readonly day: string; readonly clicks: number }[]
}

const height = 64
const step = 10

export function ClickDays({ days, label }: ClickDaysProps) {
  const most = Math.max(1, ...days.map(({ clicks }) => clicks))
  return (
    <figure class="click-days">
      <svg viewBox={`0 0 ${days.length * step} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {days.map(({ day, clicks }, at) => {
          const tall = clicks === 0 ? 1 : Math.max(3, (clicks / most) * height)
          return (
            <g key={day} class={clicks === 0 ? 'none' : ''}>
              <title>
                {dayInWords(day, { dateStyle: 'medium' })}: {number(clicks)}
              </title>
              {/* The whole column answers the mouse. */}
              <rect class="ground" x={at * step} y={0} width={step} height={height} />
              <rect x={at * step + 1} y={height - tall} width={step - 2} height={tall} />
            </g>
          )
        })}
      </svg>
      <figcaption class="label">
        <span>{dayInWords(days[0]!.day, { dateStyle: 'medium' })}</span>
        <span>most in a day: {number(Math.max(...days.map(({ clicks }) => clicks)))}</span>
        <span>{dayInWords(days.at(-1)!.day, { dateStyle: 'medium' })}</span>
      </figcaption>
      <ChartTable caption={`Clicks by day of ${label}`}>
        <tbody>
          {days.map(({ day, clicks }) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              <td>{number(clicks)}</td>
            </tr>
          ))}
        </tbody>
      </ChartTable>
    </figure>
  )
}
