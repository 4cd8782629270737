/** Rows of a list, newest first, a page at a time. The page is asked again as any answer is. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type Asked, useAnswer } from '../requests/query.ts'
import { useAnswered } from '../requests/use-answered.ts'
import { entryState, updateEntryState } from '../shell/history-entries.ts'

interface PagesOf<Row> {
  /** Rows of a page. */
  readonly each: number
  /** The parameters that ask for what stands behind a row. */
  after(row: Row): Readonly<Record<string, string>>
}

export interface ListPage<Row> extends Asked<readonly Row[]> {
  /** The answer is of another list. */
  readonly isStale: boolean
  /** Another list, or another page of it, is awaited. */
  readonly isAwaited: boolean
  /** Leads to the pages beside it, and says so where nothing is older; nothing where one page has all. */
  readonly pager: ComponentChildren
}

/**
 * Whoever comes back to an address finds the page of the list that was shown there. The answer is left out where a later page
 * is empty: the list isn't.
 *
 * @param path with its query, under `/api/v1`; another one begins at its first page
 */
export function useListPage<Row>(path: string, { each, after }: PagesOf<Row>): ListPage<Row> {
  const [place, setPlace] = useState<{ readonly path: string; readonly cursors: readonly string[] }>()
  const cursors = (place?.path === path ? place.cursors : entryState().places?.[path]) ?? []
  const goTo = (next: readonly string[]) => {
    setPlace({ path, cursors: next })
    updateEntryState({ places: { ...entryState().places, [path]: next } })
  }
  const asked = useAnswer<readonly Row[]>(
    `${path}${path.includes('?') ? '&' : '?'}limit=${each}${cursors.at(-1) ?? ''}`,
  )
  const { answer, isStale } = asked
  // While another page of the same list is awaited, the one before stays, and isn't wrong.
  const shown = useAnswered(path, isStale)
  const last = answer?.length === each ? answer.at(-1) : undefined
  const isPastEnd = cursors.length > 0 && answer?.length === 0
  const goOn = () => {
    if (last !== undefined && !isStale) goTo([...cursors, `&${new URLSearchParams(after(last))}`])
  }
  const pager = (cursors.length > 0 || last !== undefined) && (
    <div class="controls pager">
      <button type="button" aria-disabled={cursors.length === 0} onClick={() => goTo(cursors.slice(0, -1))}>
        Newer
      </button>
      <span class="label" role="status">
        {isPastEnd ? 'Nothing is older' : `Page ${cursors.length + 1}`}
      </span>
      <button type="button" aria-disabled={last === undefined} onClick={goOn}>
        Older
      </button>
    </div>
  )
  return {
    ...asked,
    answer: isPastEnd ? undefined : answer,
    isStale: shown !== path,
    isAwaited: isStale,
    pager,
  }
}
