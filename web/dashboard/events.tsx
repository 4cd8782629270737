/** Events over time, by name or by a value of a property. Range, filters and all that is chosen stand in the address. */
import { useRef, useState } from 'preact/hooks'
import type { EventNames } from '../../schemas/resources/event-names.ts'
import { localDay, readView, untilNow, type View, withDays } from './address.ts'
import { wholeOf } from './chart-frame.ts'
import { EventsTable, nameOf } from './events-table.tsx'
import {
  chosenLines,
  type EventFigure,
  type EventInterval,
  type EventsView,
  eventFigures,
  eventIntervals,
  eventsQuestionOf,
  intervalOf,
  linesOf,
  propertiesQuestionOf,
  readEvents,
  writeEvents,
} from './events-view.ts'
import type { PageProps } from './later.tsx'
import { Failure } from './parts.tsx'
import { useAnswer } from './query.ts'
import { SeriesChart } from './series-chart.tsx'
import { isShared } from './shared-page.ts'
import { useOverviewKeys } from './shortcuts.tsx'
import { ViewControls } from './view-controls.tsx'
import { type ViewDialog, ViewDialogs } from './view-dialogs.tsx'

/** It reads many events: it is asked for less often than the overview. */
const againMs = 15_000
/** Names of properties seldom change. */
const propertiesAgainMs = 60_000

/** Shared links have no values of properties. */
function readShown(search: string): EventsView {
  const events = readEvents(search)
  return isShared ? { ...events, of: undefined, property: undefined } : events
}

export function EventsPage({ search, workspace: { timezone }, navigate }: PageProps) {
  const today = localDay(Date.now(), timezone)
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

  const { of, figure } = events
  const named = useAnswer<EventNames>(of === undefined ? undefined : propertiesQuestionOf(view, of), {
    againMs: propertiesAgainMs,
  })
  // While another range is awaited the names stay; those of another event don't.
  const known = useRef<{ readonly of: string; readonly names: readonly string[] }>(undefined)
  if (of !== undefined && named.answer !== undefined && !named.isStale) {
    known.current = { of, names: named.answer.properties }
  }
  const names = known.current?.of === of ? known.current?.names : undefined
  const property = events.property ?? names?.[0]
  const question = of !== undefined && property === undefined ? undefined : eventsQuestionOf(view, events, property)
  const { answer, failure, isStale } = useAnswer<EventNames>(question, { againMs })
  const shown = question === undefined ? undefined : answer
  // The rows that stay while others are awaited may be divided in another way.
  const isDivided = shown?.rows.some(({ value }) => value !== null) ?? false
  const lines = shown && (!isStale || isDivided === (of !== undefined)) ? linesOf(shown, of) : undefined
  const chosen = lines && chosenLines(lines, events)
  const problem = failure ?? (of === undefined ? undefined : named.failure)
  return (
    <main>
      {problem && <Failure {...problem} />}
      <ViewControls {...{ view, go, timezone, ...opening }}>
        <select
          aria-label="Length of the buckets"
          value={intervalOf(view, events)}
          onChange={(event) => change({ interval: event.currentTarget.value as EventInterval })}
        >
          {Object.entries(eventIntervals).map(([key, name]) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </select>
        <select
          aria-label="Figure of the chart"
          value={figure}
          onChange={(event) => change({ figure: event.currentTarget.value as EventFigure })}
        >
          {Object.entries(eventFigures).map(([key, name]) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </select>
      </ViewControls>
      <ViewDialogs {...{ view, timezone, opened, go }} close={() => open(undefined)} />
      {shown?.series && chosen && chosen.length > 0 && (
        <>
          <SeriesChart
            buckets={shown.series}
            lines={chosen.map((line) => ({
              label: nameOf(line, of),
              values: line.counts!.map((counts) => counts[figure]),
              look: line.place,
            }))}
            label={`${eventFigures[figure]} over time`}
            timezone={shown.range.timezone}
            zoom={(days) => go(withDays(readView(location.search), days, today))}
          />
          {wholeOf(shown.series, new Date().toISOString()) < shown.series.length && (
            <p class="note">The last {shown.range.bucket} isn’t over yet.</p>
          )}
        </>
      )}
      <EventsTable
        {...{ events, names, property, lines, chosen, change }}
        answer={shown}
        isAwaited={shown === undefined && !problem && names?.length !== 0}
        isStale={isStale && question !== undefined}
      />
    </main>
  )
}
