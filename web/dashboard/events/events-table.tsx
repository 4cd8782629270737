/** The events of the range with their totals. A box puts a row into the chart. ⋯ shows an event alone, or by a property. */
import { useState } from 'preact/hooks'
import type { EventNames } from '../../../schemas/resources/event-names.ts'
import { lookOf } from '../charts/series-chart.tsx'
import { namelessOf } from '../overview/list-kinds.ts'
import { ChangeMark } from '../parts/change-mark.tsx'
import { linesOf as csvOf } from '../parts/csv.ts'
import { changeOf, number, percent } from '../parts/format.ts'
import { saveFile } from '../parts/save-file.ts'
import { SortHead } from '../parts/sort-head.tsx'
import { isShared } from '../shell/shared-page.ts'
import {
  type EventColumn,
  type EventLine,
  type EventSort,
  type EventsView,
  eventColumnNames,
  eventColumns,
  isCut,
  sortedLines,
} from './events-view.ts'

interface EventsTableProps {
  readonly events: EventsView
  readonly answer: EventNames | undefined
  readonly lines: readonly EventLine[] | undefined
  /** Those in the chart. */
  readonly chosen: readonly EventLine[] | undefined
  readonly isAwaited: boolean
  readonly isStale: boolean
  change(next: Partial<EventsView>): void
}

/** A line in words. */
export function nameOf({ key, row }: EventLine): string {
  return key || (row.value === null ? namelessOf('event') : '(empty)')
}

export function EventsTable(props: EventsTableProps) {
  const { events, answer, isAwaited, isStale, change } = props
  const { of, property } = events
  const [sort, setSort] = useState<EventSort>({ by: 'visitors', isRising: false })
  const lines = props.lines && sortedLines(props.lines, sort)
  const heading = property ?? 'Event'
  const file = (
    <button
      type="button"
      aria-disabled={isStale || !lines?.length}
      onClick={() => saveFile(`${of ?? 'Events'}.csv`, csvOf(fileOf(lines!, heading)))}
    >
      CSV
    </button>
  )
  // An address may name one that the newest events don't have.
  const names = new Set([...(answer?.properties ?? []), ...(property === undefined ? [] : [property])])
  return (
    <section class="panel" aria-label="Events" aria-busy={isStale}>
      {of === undefined ? (
        <h2>Events {file}</h2>
      ) : (
        <div class="tabs">
          <h2>
            <bdi>{of}</bdi>
          </h2>
          {names.size > 0 && (
            <label class="label">
              divided by{' '}
              <select
                aria-label="Property"
                value={property ?? ''}
                onChange={({ currentTarget: { value } }) => change({ property: value || undefined, rows: [] })}
              >
                <option value="">nothing</option>
                {[...names].map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          )}
          {answer && answer.rows.length > 0 && names.size === 0 && !isShared && (
            <span class="label">Its newest events have no properties.</span>
          )}
          <button type="button" class="link" onClick={() => change({ of: undefined, property: undefined, rows: [] })}>
            All events
          </button>
          {file}
        </div>
      )}
      {isAwaited && <p class="empty awaited">…</p>}
      {lines?.length === 0 && <p class="empty">Nothing in this range.</p>}
      {lines !== undefined && lines.length > 0 && (
        <Rows {...props} lines={lines} heading={heading} sort={sort} setSort={setSort} />
      )}
      {answer && isCut(answer) && <p class="note">The top {answer.rows.length}. Add a filter to see others.</p>}
    </section>
  )
}

interface RowsProps extends EventsTableProps {
  readonly lines: readonly EventLine[]
  readonly heading: string
  readonly sort: EventSort
  setSort(sort: EventSort): void
}

function Figure({ name, row }: { name: EventColumn; row: EventLine['row'] }) {
  const { previous } = row
  const before = name === 'events' || name === 'visitors' ? previous?.[name] : undefined
  return (
    <td title={before === undefined ? undefined : `Before: ${number(before)}`}>
      {name === 'visitor_share' ? percent(row[name]) : number(row[name])}
      {before !== undefined && (
        <Changed now={row[name]} before={before} base={Math.min(row.visitors, previous!.visitors)} />
      )}
    </td>
  )
}

/** The change against the other period; nothing where either has too few. */
function Changed({ now, before, base }: { now: number; before: number; base: number }) {
  const changed = changeOf(now, before, base)
  if (changed === undefined) return null
  return (
    <>
      {' '}
      <ChangeMark changed={changed} />
    </>
  )
}

function fileOf(lines: readonly EventLine[], heading: string): (string | number)[][] {
  const head = [heading, ...eventColumnNames.map((name) => eventColumns[name])]
  const rows = lines.map(({ row, ...line }) => [nameOf({ row, ...line }), ...eventColumnNames.map((name) => row[name])])
  if (!lines.some(({ row }) => row.previous)) return [head, ...rows]
  const before = lines.map(({ row: { previous } }) => [previous?.events ?? '', previous?.visitors ?? ''])
  return [[...head, 'Events before', 'Visitors before'], ...rows.map((row, at) => [...row, ...before[at]!])]
}

function Rows({ events: { of }, lines, chosen = [], heading, sort, setSort, change }: RowsProps) {
  const counted = lines.filter(({ counts }) => counts !== undefined).length
  const toggle = (line: EventLine, isIn: boolean) => {
    const others = chosen.filter(({ key }) => key !== line.key)
    change({ rows: (isIn ? [...others, line] : others).map(({ key }) => key) })
  }
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys too */}
      <section class="scrolled wide" aria-label="Events, all columns" tabIndex={0}>
        <table class="all events">
          <thead>
            <tr>
              <th scope="col">
                <bdi>{heading}</bdi>
              </th>
              {eventColumnNames.map((by) => (
                <SortHead
                  key={by}
                  label={eventColumns[by]}
                  isRising={sort.by === by ? sort.isRising : undefined}
                  sort={(isRising) => setSort({ by, isRising })}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => {
              const { key, row, counts, look } = line
              const name = nameOf(line)
              const isIn = chosen.some((one) => one.key === key)
              const { colour, isDashed } = lookOf(look ?? 0)
              return (
                <tr key={key}>
                  <th scope="row">
                    <span class="charted">
                      <input
                        type="checkbox"
                        class="box"
                        aria-label={`${name} in the chart`}
                        checked={isIn}
                        // A chart has one line at least.
                        aria-disabled={counts === undefined || (isIn && chosen.length === 1)}
                        onChange={({ currentTarget }) => toggle(line, currentTarget.checked)}
                      />
                      <span
                        class="line"
                        style={isIn ? { borderTop: `2px ${isDashed ? 'dashed' : 'solid'} var(${colour})` } : {}}
                        aria-hidden="true"
                      />
                      <bdi class="name" title={name}>
                        {name}
                      </bdi>
                      {of === undefined && key !== '' && (
                        <button
                          type="button"
                          class="link"
                          aria-label={`${name} alone`}
                          title={isShared ? 'Alone' : 'Alone, or by a property'}
                          onClick={() => change({ of: key, property: undefined, rows: [] })}
                        >
                          ⋯
                        </button>
                      )}
                    </span>
                  </th>
                  {eventColumnNames.map((name) => (
                    <Figure key={name} name={name} row={row} />
                  ))}
                </tr>
              )
            })}
          </tbody>
        </table>
      </section>
      {counted < lines.length && (
        <p class="note">
          The chart has room for {counted} rows, those of the most visitors.
          {of === undefined && ' ⋯ shows any of the others alone.'}
        </p>
      )}
    </>
  )
}
