/** Web vitals of the range, and the pages with samples. */
import { number } from '../parts/format.ts'
import { Panel } from '../parts/panel.tsx'
import type { Overview } from '../requests/answers.ts'

interface VitalsProps {
  readonly metrics: NonNullable<Overview['web_vitals']>
  readonly pages: NonNullable<Overview['web_vital_pages']>
}

const ratingNames: Readonly<Record<string, string>> = {
  good: 'good',
  needs_improvement: 'needs improvement',
  poor: 'poor',
  no_data: 'no data',
}

export function Vitals({ metrics, pages }: VitalsProps) {
  return (
    <Panel title="Web vitals" label="p75">
      <ul class="vitals">
        {metrics.map(({ metric, label, unit, p75, rating, count }) => (
          <li key={metric} class={rating} title={`${label}: ${number(count)} samples`}>
            <span class="label">{metric}</span>
            <strong>
              {count === 0 ? '–' : `${number(Math.round(p75 * 1000) / 1000)}${unit === '' ? '' : ` ${unit}`}`}
            </strong>
            <span>{ratingNames[rating]}</span>
          </li>
        ))}
      </ul>
      <ul>
        {pages.slice(0, 5).map(({ path, worst_metric, rating, samples }) => (
          <li key={path} class="event">
            <span class="name">
              <bdi>{path}</bdi>
            </span>
            <span class={rating} title={`${number(samples)} samples`}>
              {worst_metric} {ratingNames[rating]}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
