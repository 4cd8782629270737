/** Retention: how many of those who came first in a day, week or month came back. Range and interval stand in the address. */
import { useState } from 'preact/hooks'
import type { Retention } from '../../../schemas/resources/retention.ts'
import { linesOf } from '../parts/csv.ts'
import { Failure } from '../parts/failure.tsx'
import { number, percent } from '../parts/format.ts'
import { KeptFrom } from '../parts/kept-from.tsx'
import { saveFile } from '../parts/save-file.ts'
import { useAnswer } from '../requests/query.ts'
import { todayIn } from '../requests/request.ts'
import type { PageProps } from '../shell/lazy-page.tsx'
import { useOverviewKeys } from '../shell/shortcuts.tsx'
import { readView, untilNow, type View } from '../view/address.ts'
import { ViewControls } from '../view/view-controls.tsx'
import { ViewDialogs } from '../view/view-dialogs.tsx'
import {
  averageOf,
  cohortNames,
  columnsOf,
  fileRowsOf,
  hasOwnRange,
  heatOf,
  type Interval,
  intervals,
  largestShareOf,
  readInterval,
  retentionQuestionOf,
  type Share,
  sharesOf,
  withInterval,
  writeRetention,
} from './retention-view.ts'

/** It reads all visitors: it is asked for less often than the overview. */
const againMs = 15_000
/** More columns are in the file alone. */
const columnsMax = 60

export function RetentionPage({ search, workspace: { timezone }, navigate }: PageProps) {
  const view = untilNow(readView(search), todayIn(timezone))
  const interval = readInterval(search)
  const [hasCalendar, showCalendar] = useState(false)
  const go = (next: View) => navigate(writeRetention(next, readInterval(location.search)))
  const opening = { openFilter: () => undefined, openCalendar: () => showCalendar(true) }
  const opened = hasCalendar ? 'calendar' : undefined
  const ownRange = hasOwnRange(search) ? intervals[interval].ownRange : undefined
  useOverviewKeys({ timezone, go, ...opening })
  const { answer, failure, isComing, isStale } = useAnswer<Retention>(retentionQuestionOf(search, view), { againMs })
  return (
    <main>
      {failure && <Failure {...failure} />}
      <ViewControls view={view} go={go} timezone={timezone} ownRange={ownRange} {...opening} isFiltered={false}>
        <select
          aria-label="Length of the buckets"
          value={interval}
          onChange={(event) => navigate(withInterval(location.search, event.currentTarget.value as Interval))}
        >
          {Object.entries(intervals).map(([key, { name }]) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </select>
      </ViewControls>
      <ViewDialogs view={view} timezone={timezone} opened={opened} go={go} close={() => showCalendar(false)} />
      {view.filters.length > 0 && <p class="note">Filters change nothing here: cohorts are of all visitors.</p>}
      {answer && <KeptFrom {...answer} />}
      <section class="panel" aria-label="Retention" aria-busy={isStale}>
        <h2>
          New visitors who came back
          <button
            type="button"
            aria-disabled={answer === undefined || isStale}
            onClick={() => answer && saveAs(answer)}
          >
            CSV
          </button>
        </h2>
        {isComing && <p class="empty awaited">…</p>}
        {answer && <Cohorts {...answer} />}
      </section>
    </main>
  )
}

function Cohorts(answer: Retention) {
  const { cohorts, range } = answer
  if (cohorts.every(({ visitors }) => visitors === 0)) {
    return <p class="empty">Nobody came for the first time in this range.</p>
  }
  const { bucket } = range
  const columns = columnsOf(cohorts)
  const shown = Math.min(columns, columnsMax)
  const nameOf = cohortNames(answer)
  const averages = averageOf(cohorts)
  const common = { columns: shown, largest: largestShareOf(cohorts, shown) }
  const { unit } = intervals[bucket as Interval]
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys too */}
      <section class="scrolled wide" aria-label="Cohorts, all columns" tabIndex={0}>
        <table class="all retention">
          <thead>
            <tr>
              <th scope="col">First seen</th>
              <th scope="col">Visitors</th>
              {Array.from({ length: shown }, (_, at) => (
                <th key={at} scope="col">
                  {unit} {at + 1}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <Row
              name={`Average of complete ${bucket}s`}
              visitors={averages[0]?.of ?? 0}
              title={`Visitors whose ${unit} 1 is over`}
              shares={averages}
              {...common}
            />
            {cohorts.map((cohort) => (
              <Row
                key={cohort.label}
                name={nameOf(cohort)}
                visitors={cohort.visitors}
                shares={sharesOf(cohort)}
                {...common}
              />
            ))}
          </tbody>
        </table>
      </section>
      <p class="note">
        The last share of a row, in italics, is of a {bucket} that still runs. The average leaves it out, and is
        weighted by visitors: it counts those whose {unit} 1 is over.
        {columns > shown && ` ${columns - shown} more ${bucket}s are in the file.`}
      </p>
    </>
  )
}

interface RowProps {
  readonly name: string
  readonly visitors: number
  /** Explains the number of visitors. */
  readonly title?: string
  readonly shares: readonly Share[]
  readonly columns: number
  readonly largest: number
}

function Row({ name, visitors, title, shares, columns, largest }: RowProps) {
  const shown = shares.slice(0, columns)
  return (
    <tr>
      <th scope="row">{name}</th>
      <td title={title}>{number(visitors)}</td>
      {shown.map((share, at) => (
        <Cell key={at} share={share} largest={largest} />
      ))}
      {shown.length < columns && <td colSpan={columns - shown.length} />}
    </tr>
  )
}

function Cell({ share, largest }: { readonly share: Share; readonly largest: number }) {
  const { visitors, of, isOver } = share
  if (of === 0) return <td />
  return (
    <td
      class={isOver ? 'returned' : 'returned running'}
      style={{ '--heat': heatOf(share, largest) }}
      title={`${number(visitors)} of ${number(of)} visitors${isOver ? '' : ', so far'}`}
    >
      {percent((100 * visitors) / of)}
    </td>
  )
}

function saveAs(answer: Retention): void {
  saveFile('Retention.csv', linesOf(fileRowsOf(answer)))
}
