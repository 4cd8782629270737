/** One person's acts, day by day: page views with how long they were in sight, clicks, and the site's own events. */
import { useState } from 'preact/hooks'
import type { Event } from '../../../schemas/resources/overview.ts'
import { duration, number } from '../parts/format.ts'
import { clickedOf, isTechnical, journeyEventsMax, type Line, linesOf, sourcesOf } from './journey-lines.ts'

export function Timeline({ events, timezone }: { events: readonly Event[]; timezone: string }) {
  const [isAll, showAll] = useState(false)
  const lines: readonly Line[] = isAll
    ? events.map((event) => ({ event, engagedMs: 0, scrollDepth: 0, vitals: [] }))
    : linesOf(events)
  const hasTechnical = events.some(isTechnical)
  const sources = sourcesOf(events, events.length < journeyEventsMax)
  return (
    <section class="panel" aria-label="Journey">
      <h2>
        <span>
          Journey <span class="label">Newest first</span>
        </span>
        {hasTechnical && (
          <button type="button" class="link" aria-pressed={isAll} onClick={() => showAll(!isAll)}>
            Technical events
          </button>
        )}
      </h2>
      {lines.length === 0 && <p class="empty">Only technical events.</p>}
      <ol class="timeline">
        {lines.map((line, at) => {
          const { id, event_name, path, title, occurred_at } = line.event
          const day = dayOf(occurred_at, timezone)
          return (
            <li key={id}>
              {day !== dayOf(lines[at - 1]?.event.occurred_at, timezone) && <h3>{day}</h3>}
              <div class="event">
                <time dateTime={occurred_at}>{timeOfDay(occurred_at, timezone)}</time>
                <span class="name" title={title}>
                  <bdi>{event_name}</bdi> <bdi class="label">{clickedOf(line.event) || path}</bdi>
                </span>
                <span class="label">{measuresOf(line)}</span>
                <span class="label">
                  <bdi>{sources.get(id)}</bdi>
                </span>
              </div>
            </li>
          )
        })}
      </ol>
    </section>
  )
}

function measuresOf({ engagedMs, scrollDepth, vitals }: Line): string {
  return [
    ...(engagedMs > 0 ? [`${duration(engagedMs / 1000)} in sight`] : []),
    ...(scrollDepth > 0 ? [`${scrollDepth} % seen`] : []),
    ...vitals.map(
      ({ metric, value }) => `${metric} ${metric === 'CLS' ? value.toFixed(2) : `${number(Math.round(value))} ms`}`,
    ),
  ].join(' · ')
}

function dayOf(moment: string | undefined, timeZone: string): string {
  if (moment === undefined) return ''
  return new Intl.DateTimeFormat(undefined, { timeZone, dateStyle: 'full' }).format(new Date(moment))
}

function timeOfDay(moment: string, timeZone: string): string {
  return new Intl.DateTimeFormat(undefined, { timeZone, timeStyle: 'medium' }).format(new Date(moment))
}
