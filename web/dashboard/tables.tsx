/** Lists of the overview: each row is a filter on click, and the opposite filter with Alt. */
import type { Filter, FilterName } from './address.ts'
import { filterOf } from './address.ts'
import { money, number, percent } from './format.ts'

export interface TableRow {
  readonly key: string
  readonly label: string
  readonly title?: string
  readonly visitors: number
  readonly revenue_cents: number
}

interface TableProps {
  readonly title: string
  readonly rows: readonly TableRow[]
  readonly filter: FilterName
  readonly counted?: string
  readonly currency: string
  add(filter: Filter): void
}

export function Table({ title, rows, filter, counted = 'Visitors', currency, add }: TableProps) {
  const most = Math.max(1, ...rows.map(({ visitors }) => visitors))
  const total = rows.reduce((sum, { visitors }) => sum + visitors, 0)
  const hasRevenue = rows.some(({ revenue_cents }) => revenue_cents !== 0)
  return (
    <section class="panel" aria-label={title}>
      <h2>
        {title}
        <span class="label">{counted}</span>
      </h2>
      {rows.length === 0 && <p class="empty">Nothing in this range.</p>}
      <ul>
        {rows.map((row) => (
          <li key={row.key}>
            <button
              type="button"
              class="row"
              title={`${row.title ?? row.label}\nClick to filter, Alt and click to leave out`}
              onClick={(event) => add(filterOf(filter, row.key, event.altKey))}
            >
              <meter min={0} max={most} value={row.visitors} aria-hidden="true" />
              <span class="name">
                <bdi>{row.label}</bdi>
              </span>
              {hasRevenue && (
                <span class="number">{row.revenue_cents === 0 ? '' : money(row.revenue_cents, currency)}</span>
              )}
              <span class="number">{number(row.visitors)}</span>
              <span class="share">{total === 0 ? '' : percent((row.visitors / total) * 100)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
