/** The counters, each with its change; a card chooses what the chart shows. */

import { ChangeMark } from '../parts/change-mark.tsx'
import { brief, change, duration, fittingMoney, money, number, percent } from '../parts/format.ts'
import type { Overview } from '../requests/answers.ts'
import type { Chartable } from '../view/address.ts'

type Metrics = Overview['metrics']

interface Card {
  readonly name: Chartable
  readonly label: string
  readonly show: (value: number, currency: string) => string
  readonly exact?: (value: number, currency: string) => string
  /** Whether less is better. */
  readonly isLessBetter?: boolean
}

const count = { show: brief, exact: number }
const cards: readonly Card[] = [
  { name: 'visitors', label: 'Visitors', ...count },
  { name: 'pageviews', label: 'Page views', ...count },
  { name: 'sessions', label: 'Sessions', ...count },
  { name: 'bounce_rate', label: 'Bounce rate', show: percent, isLessBetter: true },
  { name: 'average_session_seconds', label: 'Session length', show: duration },
  { name: 'conversions', label: 'Conversions', ...count },
  { name: 'revenue_cents', label: 'Revenue', show: fittingMoney, exact: money },
]

interface CardsProps {
  readonly metrics: Metrics
  readonly currency: string
  readonly chosen: Chartable
  choose(name: Chartable): void
}

export function Cards({ metrics, currency, chosen, choose }: CardsProps) {
  return (
    <div class="cards">
      {cards.map((card) => {
        const { name, label, show, exact } = card
        const value = metrics[name]
        const shown = show(value, currency)
        return (
          <button
            key={name}
            type="button"
            class="card"
            aria-pressed={chosen === name}
            data-card={name}
            onClick={() => choose(name)}
          >
            <span class="label">{label}</span>
            <strong class={shown.length > 9 ? 'long' : undefined} title={exact?.(value, currency)}>
              {shown}
            </strong>
            <Change card={card} metrics={metrics} />
          </button>
        )
      })}
    </div>
  )
}

function Change({ card: { name, isLessBetter = false }, metrics }: { card: Card; metrics: Metrics }) {
  const { previous } = metrics
  if (previous === null) return <span class="change" />
  return <ChangeMark changed={change(name, metrics, previous)} isLessBetter={isLessBetter} />
}
