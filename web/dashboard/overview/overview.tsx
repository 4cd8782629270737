/** The overview page: counts with their comparison, sources, pages, and recommendations. */
import { useRef, useState } from 'preact/hooks'
import { ComparedChart } from '../charts/compared-chart.tsx'
import { Failure } from '../parts/failure.tsx'
import { amountsText, number, time } from '../parts/format.ts'
import { Isolated } from '../parts/isolated.tsx'
import { KeptFrom } from '../parts/kept-from.tsx'
import { Panel } from '../parts/panel.tsx'
import { isTechnical } from '../people/journey-lines.ts'
import type { Overview, Workspace } from '../requests/answers.ts'
import { useAnswer } from '../requests/query.ts'
import { todayIn } from '../requests/request.ts'
import { Computing, Install, isJustFilled } from '../settings/install.tsx'
import { isShared } from '../shell/shared-page.ts'
import { useOverviewKeys } from '../shell/shortcuts.tsx'
import {
  type Chartable,
  crawlersQuestionOf,
  type Days,
  type Filter,
  panelTabs,
  questionOf,
  type Tab,
  untilNow,
  type View,
  withDays,
  withFilter,
  withTab,
} from '../view/address.ts'
import { ViewControls } from '../view/view-controls.tsx'
import { type ViewDialog, ViewDialogs } from '../view/view-dialogs.tsx'
import { Ads } from './ads.tsx'
import { Cards } from './cards.tsx'
import { Crawlers } from './crawlers.tsx'
import { Goals } from './goals.tsx'
import * as kinds from './list-kinds.ts'
import { PageFlowPanel } from './page-flow.tsx'
import { SearchTermsPanel } from './search-terms.tsx'
import { Lists } from './tables.tsx'
import { Vitals } from './vitals.tsx'

interface OverviewProps {
  readonly view: View
  readonly workspace: Workspace
  go(view: View): void
  /** To another address of the dashboard. */
  navigate(path: string): void
}

const chartLabels: Readonly<Record<Chartable, string>> = {
  visitors: 'Visitors',
  pageviews: 'Page views',
  sessions: 'Sessions',
  bounce_rate: 'Bounce rate',
  average_session_seconds: 'Session length',
  conversions: 'Conversions',
  revenue_cents: 'Revenue',
}

/** Whether the first event may still be awaited, which is the owner's to send. */
const isEmpty = ({ metrics, recent_events }: Overview) =>
  !isShared && metrics.events === 0 && recent_events.length === 0 && metrics.live_visitors === 0

/** Whether there ever was an event: a range without any isn't a workspace without any. */
const everQuestion = '/analytics/overview?days=365&compare=none&include=metrics'
const everMs = 60_000

export function OverviewPage({ view: chosenView, workspace, go, navigate }: OverviewProps) {
  const today = todayIn(workspace.timezone)
  const view = untilNow(chosenView, today)
  const goToDays = (days: Days) => go(withDays(view, days, today))
  const isAwaited = useRef(true)
  const { answer, failure, isStale } = useAnswer<Overview>(`/analytics/overview?${questionOf(view)}`, {
    isHurried: (overview) => isAwaited.current && view.filters.length === 0 && isEmpty(overview),
  })
  const isBare = answer !== undefined && view.filters.length === 0 && isEmpty(answer)
  const { answer: year, failure: yearFailure } = useAnswer<Overview>(isBare ? everQuestion : undefined, {
    againMs: everMs,
  })
  const [opened, open] = useState<ViewDialog>()
  const close = () => open(undefined)
  const opening = {
    openFilter: () => open('filter'),
    openCalendar: () => open('calendar'),
    openSaved: () => open('saved'),
  }
  useOverviewKeys({ timezone: workspace.timezone, go, ...opening })
  const dialogs = (
    <ViewDialogs view={view} timezone={workspace.timezone} opened={opened} overview={answer} go={go} close={close} />
  )
  const wasShown = useRef(false)
  // Dialogs over the page stay open while the answer comes.
  if (answer === undefined || (isBare && year === undefined && !yearFailure && !wasShown.current)) {
    if (!failure) return <main class="skeleton" aria-busy="true" aria-label="Loading" />
    // Another range, or fewer filters, may be answered.
    return (
      <main>
        <Failure {...failure} />
        <Controls view={view} go={go} workspace={workspace} live={undefined} {...opening} />
        {dialogs}
        {!failure.isRefused && <NoFigures />}
      </main>
    )
  }
  wasShown.current = true
  // The first event of all is awaited, not that of a quiet day. The year's answer may be older than the first event.
  isAwaited.current &&= isEmpty(answer) && (year === undefined || year.metrics.events === 0)
  const isNew = isBare && isAwaited.current && year !== undefined
  return (
    <main aria-busy={isStale}>
      {failure && <Failure {...failure} />}
      <Controls view={view} go={go} workspace={workspace} live={answer.metrics.live_visitors} {...opening} />
      {dialogs}
      {!isNew && (
        <Figures
          answer={answer}
          view={view}
          workspace={workspace}
          go={go}
          navigate={navigate}
          goToDays={goToDays}
          isStale={isStale}
        />
      )}
      {isNew &&
        (isJustFilled(workspace.id) ? <Computing /> : <Install snippet={answer.snippet} workspaceId={workspace.id} />)}
    </main>
  )
}

/** No answer came yet whose figures could be kept. */
function NoFigures() {
  return (
    <section class="panel install" aria-label="No figures">
      <h2>Figures can’t be read right now</h2>
      <p>
        Visits go on being recorded: events are still taken, and none is lost. They stand here once the figures can be
        read; this page shows it by itself. Fewer days or filters may be answered sooner.
      </p>
      {!isShared && (
        <p>
          On the machine, <code>npx svc doctor</code> says whether a store is away.
        </p>
      )}
    </section>
  )
}

interface FiguresProps extends OverviewProps {
  readonly answer: Overview
  /** The answer is another view's, shown until this one's comes. */
  readonly isStale: boolean
  goToDays(days: Days): void
}

function Figures({ answer, isStale, view, workspace: { id, currency }, go, navigate, goToDays }: FiguresProps) {
  const add = (...filters: Filter[]) => go(filters.reduce(withFilter, view))
  const { metrics, traffic_series = [] } = answer
  // The workspace may have another one by now, while its figures are computed anew.
  const { timezone } = metrics.range
  const apart = amountsText(metrics.revenue_by_currency)
  const show = (tab: Tab) => go(withTab(view, tab))
  const common = { currency, add, show, view, overview: answer, isStale, navigate }
  return (
    <>
      <KeptFrom {...metrics} />
      {metrics.previous === null && view.compare !== 'none' && (
        <p class="note">No comparison: the previous period isn’t kept in full.</p>
      )}
      <Cards metrics={metrics} currency={currency} chosen={view.card} choose={(card) => go({ ...view, card })} />
      <ComparedChart
        points={traffic_series}
        of={view.card}
        label={chartLabels[view.card]}
        view={view}
        metrics={metrics}
        isStale={isStale}
        currency={currency}
        timezone={timezone}
        asOf={metrics.as_of}
        zoom={goToDays}
      />
      {apart !== '' && (
        <p class="note">
          These payments aren’t in the revenue, as no exchange rate is known: {apart}. Import rates by{' '}
          <code>npx svc revenue rates</code>.
        </p>
      )}
      <div class="columns">
        <Lists
          tabs={panelTabs.sources}
          kinds={[kinds.sources, kinds.channels, kinds.campaigns, kinds.contents, kinds.referrers]}
          {...common}
        />
        {!isShared && <SearchTermsPanel view={view} workspaceId={id} />}
        <Lists
          tabs={panelTabs.pages}
          kinds={[kinds.pages, kinds.entryPages, kinds.exitPages, kinds.hostnames]}
          {...common}
        />
        <PageFlowPanel view={view} go={go} navigate={navigate} />
        <Lists tabs={panelTabs.countries} kinds={[kinds.countries, kinds.regions, kinds.cities]} {...common} />
        <Lists
          tabs={panelTabs.devices}
          kinds={[kinds.devices, kinds.browsers, kinds.systems, kinds.screens, kinds.languages]}
          {...common}
        />
        <Lists tabs={panelTabs.events} kinds={[kinds.eventNames]} {...common} />
        <Goals view={view} add={add} />
        <Ads metrics={metrics} currency={currency} add={add} />
        <Vitals metrics={answer.web_vitals ?? []} pages={answer.web_vital_pages ?? []} />
        <Crawlers question={crawlersQuestionOf(view)} />
        {!isShared && <Recent events={answer.recent_events} timezone={timezone} />}
        <Advice items={answer.recommendations} />
      </div>
      {metrics.lists_cut && <p class="note">Lists have the top 2,000 of each day.</p>}
      <p class="note">
        As of {time(metrics.as_of, timezone)}, {timezone}. {metrics.bot_visits !== null && leftOut(metrics.bot_visits)}
      </p>
    </>
  )
}

function leftOut(visits: number): string {
  return `${number(visits)} ${visits === 1 ? 'visit of a crawler is' : 'visits of crawlers are'} left out.`
}

interface ControlsProps extends Omit<OverviewProps, 'navigate'> {
  /** Undefined: not known. */
  readonly live: number | undefined
  openFilter(): void
  openCalendar(): void
  openSaved(): void
}

function Controls({ view, go, live, workspace: { timezone }, ...opening }: ControlsProps) {
  return (
    <ViewControls view={view} go={go} timezone={timezone} {...opening} isCompared>
      {live !== undefined && (
        <span class="live">
          <span aria-hidden="true">●</span> {number(live)} now
        </span>
      )}
    </ViewControls>
  )
}

function Recent({ events, timezone }: { events: Overview['recent_events']; timezone: string }) {
  const acts = events.filter((event) => !isTechnical(event))
  return (
    <Panel title="Recent events">
      {acts.length === 0 && <p class="empty">Nothing in this range.</p>}
      <ul>
        {acts.slice(0, 10).map(({ id, event_name, path, occurred_at }) => (
          <li key={id} class="event">
            <span class="name">
              <bdi>{event_name}</bdi> <bdi class="label">{path || kinds.namelessOf('path')}</bdi>
            </span>
            <time dateTime={occurred_at}>{time(occurred_at, timezone)}</time>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Advice({ items }: { items: Overview['recommendations'] }) {
  if (items.length === 0) return null
  return (
    <Panel title="What to do next">
      <ul>
        {items.map(({ title, detail, priority }) => (
          <li key={title + detail} class="advice">
            <strong>
              <bdi>
                <Isolated text={title} />
              </bdi>{' '}
              <span class="label">{priority}</span>
            </strong>
            <p>
              <bdi>
                <Isolated text={detail} />
              </bdi>
            </p>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
