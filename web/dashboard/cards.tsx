/** The counters, each with its change; a card chooses what the chart shows. */
import { brief, change, changeText, duration, money, number, percent } from './format.ts'
import type { Overview } from './overview-data.ts'

const chartable = ['visitors', 'pageviews', 'sessions', 'conversions', 'revenue_cents'] as const
export type Chartable = (typeof chartable)[number]

type Metrics = Overview['metrics']
type Counters = NonNullable<Metrics['previous']>
type CounterName = keyof { [Name in keyof Counters as Counters[Name] extends number ? Name : never]: 1 } & string

interface Card {
  readonly name: CounterName
  readonly label: string
  readonly show: (value: number, currency: string) => string
  readonly exact?: (value: number) => string
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
  { name: 'revenue_cents', label: 'Revenue', show: money },
]

interface CardsProps {
  readonly metrics: Metrics
  readonly currency: string
  readonly chosen: Chartable
  choose(name: Chartable): void
}

export function Cards({ metrics, currency, chosen, choose }: CardsProps) {
  const isChartable = (name: string): name is Chartable => (chartable as readonly string[]).includes(name)
  return (
    <div class="cards">
      {cards.map((card) => {
        const { name, label, show, exact } = card
        const value = metrics[name]
        const inside = (
          <>
            <span class="label">{label}</span>
            <strong title={exact?.(value)}>{show(value, currency)}</strong>
            <Change card={card} metrics={metrics} />
          </>
        )
        return isChartable(name) ? (
          <button
            key={name}
            type="button"
            class="card"
            aria-pressed={chosen === name}
            data-card={name}
            onClick={() => choose(name)}
          >
            {inside}
          </button>
        ) : (
          <div key={name} class="card" data-card={name}>
            {inside}
          </div>
        )
      })}
    </div>
  )
}

function Change({ card: { name, isLessBetter = false }, metrics }: { card: Card; metrics: Metrics }) {
  const { previous } = metrics
  if (previous === null) return <span class="change" />
  const changed = change(metrics[name], previous[name], [metrics.visitors, previous.visitors])
  if (changed === undefined)
    return (
      <span class="change" title="Too few visitors to compare">
        –
      </span>
    )
  const isGood = changed > 0 !== isLessBetter
  const tone = changed === 0 ? '' : isGood ? 'good' : 'bad'
  return <span class={`change ${tone}`}>{changeText(changed)}</span>
}
