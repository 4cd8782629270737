/** The crawlers that came in the range, with what they come for. */
import type { BotAnalytics } from '../../../schemas/resources/bot-analytics.ts'
import { number } from '../parts/format.ts'
import { Panel } from '../parts/panel.tsx'
import { useAnswer } from '../requests/query.ts'

export function Crawlers({ question }: { question: string }) {
  const { answer, failure, isStale } = useAnswer<BotAnalytics>(`/analytics/bots?${question}`)
  return (
    <Panel title="Crawlers" label="Visits" failure={failure} isBusy={isStale}>
      {answer?.bots.length === 0 && <p class="empty">Nothing in this range.</p>}
      <ul>
        {answer?.bots.map(({ name, operator, category, verified, visits }) => (
          <li key={`${name} ${verified}`} class="event">
            <span class="name">
              <bdi>{name}</bdi>{' '}
              <span class="label">
                <bdi>{[operator, category.replaceAll('_', ' ')].filter(Boolean).join(', ')}</bdi>
              </span>
            </span>
            {verified === false && <span class="bad">not who it says it is</span>}
            {verified === null && <span class="label">not checked</span>}
            <span>{number(visits)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
