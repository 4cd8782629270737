/** The overview page: how many, compared with before, from where, to what, and what to do. */
import { useEffect, useState } from 'preact/hooks'
import {
  type Comparison,
  comparisons,
  crawlersQuestionOf,
  daysOf,
  type Filter,
  questionOf,
  type RangeKey,
  rangeKeys,
  ranges,
  readView,
  shownValue,
  type View,
  withFilter,
  withoutFilter,
} from './address.ts'
import { Cards, type Chartable } from './cards.tsx'
import { ComparedChart } from './compared-chart.tsx'
import { Crawlers } from './crawlers.tsx'
import { number, time } from './format.ts'
import { Install } from './install.tsx'
import type { Overview, Workspace } from './overview-data.ts'
import { Failure } from './parts.tsx'
import { useAnswer } from './query.ts'
import { Table } from './tables.tsx'
import { Vitals } from './vitals.tsx'

interface PageProps {
  readonly view: View
  readonly workspace: Workspace
  go(view: View): void
}

const chartLabels: Readonly<Record<Chartable, string>> = {
  visitors: 'Visitors',
  pageviews: 'Page views',
  sessions: 'Sessions',
  conversions: 'Conversions',
  revenue_cents: 'Revenue',
}

const isEmpty = ({ metrics, recent_events }: Overview) =>
  metrics.events === 0 && recent_events.length === 0 && metrics.live_visitors === 0

export function OverviewPage({ view, workspace, go }: PageProps) {
  const { answer, failure, isStale } = useAnswer<Overview>(`/analytics/overview?${questionOf(view)}`, {
    isHurried: isEmpty,
  })
  const [chosen, choose] = useState<Chartable>('visitors')
  useKeys(go)
  if (answer === undefined) {
    return failure ? <Failure {...failure} /> : <main class="skeleton" aria-busy="true" aria-label="Loading" />
  }
  const isNew = isEmpty(answer) && view.filters.length === 0
  return (
    <main class={isStale ? 'stale' : ''} aria-busy={isStale}>
      {failure && <Failure {...failure} />}
      <Controls view={view} go={go} workspace={workspace} live={answer.metrics.live_visitors} />
      {isNew ? <Install snippet={answer.snippet} /> : <Figures {...{ answer, view, workspace, go, chosen, choose }} />}
    </main>
  )
}

interface FiguresProps extends PageProps {
  readonly answer: Overview
  readonly chosen: Chartable
  choose(name: Chartable): void
}

function Figures({ answer, view, workspace: { currency, timezone }, go, chosen, choose }: FiguresProps) {
  const add = (filter: Filter) => go(withFilter(view, filter))
  const { metrics, traffic_series = [], devices = [], browsers = [], countries = [] } = answer
  const common = { currency, add }
  const keyed = (rows: typeof devices) => rows.map((row) => ({ ...row, label: row.label }))
  return (
    <>
      <Cards {...{ metrics, currency, chosen, choose }} />
      <ComparedChart
        points={traffic_series}
        of={chosen}
        label={chartLabels[chosen]}
        {...{ view, metrics, currency, timezone }}
      />
      <div class="columns">
        <Table
          title="Sources"
          filter="source"
          rows={answer.top_sources.map(({ source, medium, ...row }) => ({
            ...row,
            key: source,
            label: medium === 'none' ? source : `${source} / ${medium}`,
          }))}
          {...common}
        />
        <Table
          title="Pages"
          filter="path"
          counted="Page views"
          rows={answer.top_pages.map(({ path, title, pageviews, revenue_cents }) => ({
            ...{ key: path, label: path, title: `${title}\n${path}`, visitors: pageviews, revenue_cents },
          }))}
          {...common}
        />
        <Table title="Countries" filter="country" rows={keyed(countries)} {...common} />
        <Table title="Devices" filter="device" rows={keyed(devices)} {...common} />
        <Table title="Browsers" filter="browser" rows={keyed(browsers)} {...common} />
        <Vitals metrics={answer.web_vitals ?? []} pages={answer.web_vital_pages ?? []} />
        <Crawlers question={crawlersQuestionOf(view)} />
        <Recent events={answer.recent_events} timezone={timezone} />
        <Advice items={answer.recommendations} />
      </div>
      {metrics.lists_cut && <p class="note">Lists are cut to the 2,000 largest of each day.</p>}
      <p class="note">
        As of {time(metrics.as_of, timezone)}, {timezone}.{' '}
        {metrics.bot_visits !== null && `${number(metrics.bot_visits)} visits of crawlers are left out.`}
      </p>
    </>
  )
}

interface ControlsProps extends PageProps {
  readonly live: number
}

function Controls({ view, go, live, workspace: { timezone } }: ControlsProps) {
  return (
    <div class="controls">
      <span class="live">
        <span aria-hidden="true">●</span> {number(live)} now
      </span>
      <ul class="chips" aria-label="Filters">
        {view.filters.map(({ name, value }, at) => (
          <li key={`${name} ${value}`}>
            <button type="button" onClick={() => go(withoutFilter(view, at))} title="Take this filter off">
              {name.replace('_', ' ')}: <bdi>{shownValue(value)}</bdi> ×
            </button>
          </li>
        ))}
      </ul>
      <select
        aria-label={`Range, in ${timezone}`}
        value={view.days === null ? view.range : ''}
        onChange={(event) => go({ ...view, days: null, range: event.currentTarget.value as RangeKey })}
      >
        {view.days !== null && <option value="">Chosen days</option>}
        {rangeKeys.map((key) => (
          <option key={key} value={key}>
            {ranges[key].name}
          </option>
        ))}
      </select>
      <DaysForm view={view} go={go} />
      <select
        aria-label="Comparison"
        value={view.compare}
        onChange={(event) => go({ ...view, compare: event.currentTarget.value as Comparison })}
      >
        {Object.entries(comparisons).map(([key, name]) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
    </div>
  )
}

/** Local days by the browser's own calendar. */
function DaysForm({ view, go }: Pick<PageProps, 'view' | 'go'>) {
  const choose = (event: Event) => {
    const data = new FormData((event.currentTarget as HTMLInputElement).form!)
    const days = daysOf(String(data.get('from')), String(data.get('to')))
    if (days !== null) go({ ...view, days })
  }
  return (
    <form class="days" onSubmit={(event) => event.preventDefault()}>
      <input type="date" name="from" aria-label="First day" value={view.days?.from ?? ''} onChange={choose} />
      <input type="date" name="to" aria-label="Last day" value={view.days?.to ?? ''} onChange={choose} />
    </form>
  )
}

/** Single keys: the ranges by their letter, X for the comparison, Escape for the last filter. */
function useKeys(go: (view: View) => void): void {
  useEffect(() => {
    const onKey = ({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
      if (ctrlKey || metaKey || altKey || target instanceof HTMLInputElement || target instanceof HTMLSelectElement)
        return
      const pressed = key.toLowerCase()
      // Of the address: what is drawn may be a key behind.
      const view = readView(location.search)
      if (Object.hasOwn(ranges, pressed)) go({ ...view, days: null, range: pressed as RangeKey })
      else if (pressed === 'x') go({ ...view, compare: view.compare === 'none' ? 'previous' : 'none' })
      else if (pressed === 'escape' && view.filters.length > 0) go(withoutFilter(view, view.filters.length - 1))
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [go])
}

function Recent({ events, timezone }: { events: Overview['recent_events']; timezone: string }) {
  return (
    <section class="panel" aria-label="Recent events">
      <h2>Recent events</h2>
      {events.length === 0 && <p class="empty">Nothing in this range.</p>}
      <ul>
        {events.slice(0, 10).map(({ id, event_name, path, occurred_at }) => (
          <li key={id} class="event">
            <span class="name">
              <bdi>{event_name}</bdi> <bdi class="label">{path}</bdi>
            </span>
            <time dateTime={occurred_at}>{time(occurred_at, timezone)}</time>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Advice({ items }: { items: Overview['recommendations'] }) {
  if (items.length === 0) return null
  return (
    <section class="panel" aria-label="What to do next">
      <h2>What to do next</h2>
      <ul>
        {items.map(({ title, detail, priority }) => (
          <li key={title + detail} class="advice">
            <strong>
              {title} <span class="label">{priority}</span>
            </strong>
            <p>
              <bdi>{detail}</bdi>
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}
