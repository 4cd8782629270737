/** Lists of the overview: each row is a filter on click, and the opposite filter with Alt. A hover compares it with the period before. */
import { useMemo, useRef, useState } from 'preact/hooks'
import type { Breakdown } from '../../../schemas/resources/breakdown.ts'
import { EventProperties } from '../events/event-properties.tsx'
import { readEvents, writeEvents } from '../events/events-view.ts'
import { Failure } from '../parts/failure.tsx'
import { fittingMoney, money, number, percent } from '../parts/format.ts'
import { PageLink } from '../parts/page-link.tsx'
import type { Overview } from '../requests/answers.ts'
import { useAnswer } from '../requests/query.ts'
import { isShared } from '../shell/shared-page.ts'
import { type Filter, listQuestionOf, type Tab, type View } from '../view/address.ts'
import { Details } from './details.tsx'
import { columns, filtersOf, isClickable, type ListKind, type ListRow } from './list-kinds.ts'
import { WorldMap } from './world-map.tsx'

export type Answer = Overview & Breakdown
type Metrics = Overview['metrics']

interface ListsProps {
  /** The tabs of the panel: one of each kind, and one more for a map of the first kind. */
  readonly tabs: readonly Tab[]
  readonly kinds: readonly ListKind[]
  readonly overview: Overview
  /** The overview is another view's, shown until this one's comes. */
  readonly isStale: boolean
  readonly view: View
  readonly currency: string
  add(...filters: Filter[]): void
  show(tab: Tab): void
  /** To another address of the dashboard. */
  navigate(path: string): void
}

const shownRows = 10
/** For past days: only late events change them. */
const pastMs = 60_000

export function Lists(props: ListsProps) {
  const { tabs, kinds, overview, isStale: isOverviewStale, view, currency, add, show, navigate } = props
  const chosen = Math.max(
    0,
    tabs.findIndex((tab) => view.tabs.includes(tab)),
  )
  const [opened, open] = useState<ListKind>()
  const [looked, lookInto] = useState<string>()
  const kind = kinds[chosen] ?? kinds[0]!
  const isMap = chosen === kinds.length
  const question = listQuestionOf(view)
  const isShown = kind.isOfOverview && !isMap
  const { answer, failure, isStale } = useAnswer<Answer>(
    isShown ? undefined : `${kind.ask(isMap ? kind.limitMax : shownRows)}&${question}`,
  )
  // While another range is awaited the rows stay; those of another tab don't.
  const kept = useRef<{ kind: ListKind; rows: readonly ListRow[]; metrics: Metrics | undefined }>(undefined)
  if (!isShown && answer !== undefined && !isStale) {
    kept.current = { kind, rows: kind.rowsOf(answer), metrics: isOverviewStale ? undefined : overview.metrics }
  }
  const known = kept.current?.kind === kind ? kept.current : undefined
  const rows = isShown ? kind.rowsOf(overview as Answer) : known?.rows
  const metrics = isShown ? overview.metrics : known?.metrics
  const [isLookedAt, lookAt] = useState(false)
  const before = useBefore(kind, view, overview, isLookedAt)
  return (
    <section
      class="panel"
      aria-label={kinds[0]!.title}
      aria-busy={!isShown && isStale && rows !== undefined}
      onPointerEnter={() => lookAt(true)}
      onFocusIn={() => lookAt(true)}
    >
      <div class="tabs">
        <h2 class={tabs.length > 1 ? 'unseen' : ''}>{kinds[0]!.title}</h2>
        {tabs.length > 1 &&
          tabs.map((tab, at) => (
            <button key={tab} type="button" aria-pressed={at === chosen} onClick={() => show(tab)}>
              {kinds[at]?.title ?? 'Map'}
            </button>
          ))}
        {isMap && <span class="label">{columns[kind.columns[0]!].label}</span>}
      </div>
      {!isShown && failure && <Failure {...failure} />}
      {isMap && kind.filter !== undefined ? (
        <WorldMap rows={rows ?? []} filter={kind.filter} view={view} add={add} />
      ) : (
        <Rows
          rows={rows}
          kind={kind}
          before={before}
          currency={currency}
          add={add}
          metrics={metrics}
          lookInto={lookInto}
        />
      )}
      {rows !== undefined && rows.length > 0 && (
        <>
          <button type="button" class="link" onClick={() => open(kind)}>
            Details<span class="unseen"> of {kind.title}</span>
          </button>
          {kind.report !== undefined && (
            <button type="button" class="link" onClick={() => open(kind.report)}>
              {kind.report.title}
            </button>
          )}
          {kind.isOfEvents && (
            <PageLink path={writeEvents(view, readEvents(''))} navigate={navigate}>
              Over time
            </PageLink>
          )}
        </>
      )}
      {opened && <Details kind={opened} view={view} currency={currency} add={add} close={() => open(undefined)} />}
      {looked !== undefined && (
        <EventProperties
          event={looked}
          view={view}
          currency={currency}
          add={add}
          navigate={navigate}
          close={() => lookInto(undefined)}
        />
      )}
    </section>
  )
}

/** The same list for the period that is compared with, by key and label; asked for once somebody looks. */
function useBefore(
  kind: ListKind,
  view: View,
  { metrics }: Overview,
  isLookedAt: boolean,
): Map<string, number> | undefined {
  const { previous_range: range } = metrics
  // The end moves on with the clock: the moment of the look counts.
  const question = useMemo(
    () =>
      range === null || !isLookedAt
        ? undefined
        : `${kind.ask(kind.limitMax)}&${listQuestionOf(view, [range.start, range.end])}`,
    [kind, listQuestionOf(view), range?.start, isLookedAt],
  )
  const { answer, isStale } = useAnswer<Answer>(question, { againMs: pastMs })
  const rows = question === undefined || answer === undefined || isStale ? undefined : kind.rowsOf(answer)
  return rows && new Map(rows.map((row) => [nameOf(row), row.figures[kind.columns[0]!] ?? 0]))
}

const nameOf = ({ key, label }: ListRow) => JSON.stringify([key, label])

interface RowsProps extends Pick<ListsProps, 'currency' | 'add'> {
  readonly kind: ListKind
  /** Undefined: not known yet. */
  readonly rows: readonly ListRow[] | undefined
  readonly before: Map<string, number> | undefined
  /** All that the rows are of, so that each has a share; undefined until the answer to the same question is there. */
  readonly metrics: Metrics | undefined
  /** Shows the properties of an event. */
  lookInto(event: string): void
}

function Rows({ kind, rows: all, before, metrics, currency, add, lookInto }: RowsProps) {
  if (all === undefined) return <p class="empty awaited">…</p>
  const counted = kind.columns[0]!
  // Conversions that a server sent count for a row, but for none of its visitors. Details have the row.
  const shown = [counted, 'events', 'revenue_cents'] as const
  const rows = all.filter(({ figures }) => shown.some((name) => (figures[name] ?? 0) !== 0))
  if (rows.length === 0) return <p class="empty">Nothing in this range.</p>
  const counts = rows.map(({ figures }) => figures[counted] ?? 0)
  const most = Math.max(1, ...counts)
  const whole = (counted === 'pageviews' ? metrics?.pageviews : metrics?.visitors) ?? 0
  const hasRevenue = rows.some(({ figures }) => (figures.revenue_cents ?? 0) !== 0)
  return (
    <div class="figures">
      <p class="heads label">
        {hasRevenue && <span class="money">{columns.revenue_cents.label}</span>}
        <span class="number">{columns[counted].label}</span>
      </p>
      <ul>
        {rows.map((row, at) => {
          const { revenue_cents = 0 } = row.figures
          const inside = (
            <>
              <span class="bar" style={{ width: `${(counts[at]! / most) * 100}%` }} aria-hidden="true" />
              <span class="name">
                <bdi>{row.label}</bdi>
              </span>
              {row.figures.events !== undefined && (
                <span class="count label">
                  {number(row.figures.events)} {row.figures.events === 1 ? 'event' : 'events'}
                </span>
              )}
              {hasRevenue && (
                <span class="money" title={revenue_cents === 0 ? undefined : money(revenue_cents, currency)}>
                  {revenue_cents === 0 ? '' : fittingMoney(revenue_cents, currency)}
                </span>
              )}
              {before && <span class="before">before {number(before.get(nameOf(row)) ?? 0)}</span>}
              <span class="number">{number(counts[at]!)}</span>
              <span class="share">{whole === 0 ? '' : percent((counts[at]! / whole) * 100)}</span>
            </>
          )
          if (!isClickable(kind, row))
            return (
              <li key={nameOf(row)} class="row">
                {inside}
              </li>
            )
          return (
            <li key={nameOf(row)} class={kind.isOfEvents && 'opening'}>
              <button
                type="button"
                class="row"
                title={`${row.title ?? row.label}\nClick to filter, Alt-click to exclude${row.medium ? ' the whole source' : ''}`}
                onClick={(event) => add(...filtersOf(kind, row, event.altKey))}
              >
                {inside}
              </button>
              {kind.isOfEvents && !isShared && (
                <button
                  type="button"
                  class="link"
                  aria-label={`Properties of ${row.label}`}
                  onClick={() => lookInto(row.key)}
                >
                  ⋯
                </button>
              )}
            </li>
          )
        })}
      </ul>
    </div>
  )
}
