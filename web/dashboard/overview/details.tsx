/** A list as a whole: all columns, search, sort, 100 rows a page, and the rows as a file. */
import { useState } from 'preact/hooks'
import type { Breakdown } from '../../../schemas/resources/breakdown.ts'
import { csvOf } from '../parts/csv.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { saveFile } from '../parts/save-file.ts'
import { SortHead } from '../parts/sort-head.tsx'
import type { Overview } from '../requests/answers.ts'
import { useAnswer } from '../requests/query.ts'
import { type Filter, listQuestionOf, type View } from '../view/address.ts'
import {
  type ColumnName,
  columns,
  filtersOf,
  isClickable,
  type ListKind,
  type ListRow,
  type ListSort,
} from './list-kinds.ts'

const rowsOfPage = 100

interface TableProps {
  readonly kind: ListKind
  readonly view: View
  readonly currency: string
  /** Rows are clicked that are filters. */
  readonly add?: (...filters: Filter[]) => void
}

interface DetailsProps extends TableProps {
  add(...filters: Filter[]): void
  close(): void
}

export function Details({ kind, view, currency, add, close }: DetailsProps) {
  const addAndClose = (...filters: Filter[]) => {
    add(...filters)
    close()
  }
  return (
    <Dialog title={kind.title} close={close}>
      <ListTable kind={kind} view={view} currency={currency} add={addAndClose} />
    </Dialog>
  )
}

export function ListTable({ kind, view, currency, add }: TableProps) {
  const [sort, setSort] = useState<ListSort>({ by: kind.columns[0]!, isRising: false })
  // While rows in another order are awaited, those before stay.
  const { answer, failure, isStale } = useAnswer<Overview & Breakdown>(
    `${kind.ask(kind.limitMax, sort)}&${listQuestionOf(view)}`,
  )
  const [sought, seek] = useState('')
  const [chosenPage, setPage] = useState(0)
  const all = answer === undefined ? undefined : kind.rowsOf(answer)
  const found = (all ?? []).filter(({ label }) => label.toLowerCase().includes(sought))
  const rows = kind.isSortedByApi ? found : sorted(found, sort)
  const pages = Math.max(1, Math.ceil(rows.length / rowsOfPage))
  // The list may be shorter by now than it was when the page was chosen.
  const page = Math.min(chosenPage, pages - 1)
  const shownRows = rows.slice(page * rowsOfPage, (page + 1) * rowsOfPage)
  const columnNames = kind.columns
  return (
    <>
      {failure && <Failure {...failure} />}
      <div class="controls">
        <input
          type="search"
          aria-label={`Search ${kind.title}`}
          placeholder="Search"
          onInput={(event) => {
            seek(event.currentTarget.value.trim().toLowerCase())
            setPage(0)
          }}
        />
        <button
          type="button"
          aria-disabled={isStale || rows.length === 0}
          onClick={() => saveFile(`${kind.title}.csv`, csvOf(kind, rows, currency))}
        >
          CSV
        </button>
      </div>
      <section class="scrolled" aria-label={`${kind.title}, all columns`} aria-busy={isStale && all !== undefined}>
        <table class="all">
          <thead>
            <tr>
              <th scope="col">{kind.heading ?? kind.title}</th>
              {columnNames.map((name) => (
                <SortHead
                  key={name}
                  label={columns[name].label}
                  isRising={sort.by === name ? sort.isRising : undefined}
                  sort={(isRising) => {
                    setSort({ by: name, isRising })
                    setPage(0)
                  }}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {shownRows.map((row) => (
              <tr key={row.key + row.label}>
                <th scope="row">
                  {!add || !isClickable(kind, row) ? (
                    <bdi>{row.label}</bdi>
                  ) : (
                    <button
                      type="button"
                      class="link"
                      title={row.title ?? row.label}
                      onClick={(event) => add(...filtersOf(kind, row, event.altKey))}
                    >
                      <bdi>{row.label}</bdi>
                    </button>
                  )}
                </th>
                {columnNames.map((name) => (
                  <td key={name}>{shown(name, row.figures[name], currency)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {all !== undefined && rows.length === 0 && <p class="empty">Nothing matches.</p>}
      {all !== undefined && all.length === kind.limitMax && (
        <p class="note">The top {kind.limitMax}. Add a filter to see others.</p>
      )}
      {pages > 1 && (
        <div class="controls">
          <button type="button" aria-disabled={page === 0} onClick={() => setPage(page - 1)}>
            Back
          </button>
          <span class="label">
            {page + 1} of {pages}
          </span>
          <button type="button" aria-disabled={page === pages - 1} onClick={() => setPage(page + 1)}>
            Next
          </button>
        </div>
      )}
    </>
  )
}

function shown(name: ColumnName, value: number | undefined, currency: string): string {
  return value === undefined ? '–' : columns[name].show(value, currency)
}

/** A figure that isn't known is less than any other. */
function sorted(rows: readonly ListRow[], { by, isRising }: ListSort): ListRow[] {
  const sign = isRising ? 1 : -1
  // Revenue may be below zero, by refunds.
  const unknown = -Number.MAX_VALUE
  return [...rows].sort((one, other) => sign * ((one.figures[by] ?? unknown) - (other.figures[by] ?? unknown)))
}
