/** Events over time, by name or by a value of a property. Range, filters and all that is chosen stand in the address. */
import { useState } from 'preact/hooks'
import type { EventNames } from '../../../schemas/resources/event-names.ts'
import { countEnded } from '../charts/chart-buckets.ts'
import { AwaitedChart, SeriesChart } from '../charts/series-chart.tsx'
import { Choice } from '../parts/choice.tsx'
import { Failure } from '../parts/failure.tsx'
import { useAnswer } from '../requests/query.ts'
import { serverNow, todayIn } from '../requests/request.ts'
import { useAnswered } from '../requests/use-answered.ts'
import type { PageProps } from '../shell/lazy-page.tsx'
import { isShared } from '../shell/shared-page.ts'
import { useOverviewKeys } from '../shell/shortcuts.tsx'
import { readView, untilNow, type View, withDays } from '../view/address.ts'
import { ViewControls } from '../view/view-controls.tsx'
import { type ViewDialog, ViewDialogs } from '../view/view-dialogs.tsx'
import { EventsTable, nameOf } from './events-table.tsx'
import {
  chosenLines,
  type EventsView,
  eventFigures,
  eventsQuestionOf,
  intervalOf,
  intervalsOf,
  isOfThese,
  linesOf,
  readEvents,
  writeEvents,
} from './events-view.ts'

/** It reads many events: it is asked for less often than the overview. */
const againMs = 15_000
/** Shared links have no values of properties. */
function readShown(search: string): EventsView {
  const events = readEvents(search)
  return isShared ? { ...events, property: undefined } : events
}

export function EventsPage({ search, workspace: { timezone }, navigate }: PageProps) {
  const today = todayIn(timezone)
  const view = untilNow(readView(search), today)
  const events = readShown(search)
  const [opened, open] = useState<ViewDialog>()
  const opening = {
    openFilter: () => open('filter'),
    openCalendar: () => open('calendar'),
    openSaved: () => open('saved'),
  }
  const go = (next: View) => navigate(writeEvents(next, readShown(location.search)))
  const change = (next: Partial<EventsView>) =>
    navigate(writeEvents(readView(location.search), { ...readShown(location.search), ...next }))
  useOverviewKeys({ timezone, go, ...opening })

  const { figure } = events
  const { answer, failure, isStale } = useAnswer<EventNames>(eventsQuestionOf(view, events), { againMs })
  const divided = useAnswered(events.property, isStale)
  const isThis = answer !== undefined && divided === events.property && isOfThese(answer, events)
  const shown = isThis ? answer : undefined
  const lines = shown && linesOf(shown)
  const chosen = lines && chosenLines(lines, events)
  return (
    <main aria-busy={isStale}>
      {failure && <Failure {...failure} />}
      <ViewControls view={view} go={go} timezone={timezone} {...opening} isCompared>
        <Choice
          label="Length of the buckets"
          options={intervalsOf(view)}
          chosen={intervalOf(view, events)}
          choose={(interval) => change({ interval })}
        />
        <Choice
          label="Figure of the chart"
          options={eventFigures}
          chosen={figure}
          choose={(next) => change({ figure: next })}
        />
      </ViewControls>
      <ViewDialogs view={view} timezone={timezone} opened={opened} go={go} close={() => open(undefined)} />
      {shown === undefined && !failure && <AwaitedChart />}
      {shown?.series && chosen && chosen.length > 0 && (
        <>
          <SeriesChart
            buckets={shown.series}
            lines={chosen.map((line) => ({
              label: nameOf(line),
              values: line.counts!.map((counts) => counts[figure]),
              look: line.look!,
            }))}
            label={`${eventFigures[figure]} over time`}
            timezone={shown.range.timezone}
            zoom={(days) => go(withDays(readView(location.search), days, today))}
          />
          {countEnded(shown.series, new Date(serverNow()).toISOString()) < shown.series.length && (
            <p class="note">The last {shown.range.bucket} isn’t over yet.</p>
          )}
        </>
      )}
      <EventsTable
        events={events}
        lines={lines}
        chosen={chosen}
        change={change}
        isStale={isStale}
        answer={shown}
        isAwaited={shown === undefined && !failure}
      />
    </main>
  )
}
