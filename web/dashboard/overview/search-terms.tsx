/** Search terms on the overview, where a site of Search Console is connected: queries, pages, and on a click what belongs to one. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { searchListRowsMax } from '../../../schemas/limits/search-limits.ts'
import type { SearchTerms } from '../../../schemas/resources/search-terms.ts'
import { ChangeMark } from '../parts/change-mark.tsx'
import { linesOf } from '../parts/csv.ts'
import { Failure, Refusal } from '../parts/failure.tsx'
import { changeOf, daysInWords, number, percent } from '../parts/format.ts'
import { saveFile } from '../parts/save-file.ts'
import { fetchOnce, useAnswer } from '../requests/query.ts'
import { useAnswered } from '../requests/use-answered.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { readStored, writeStored } from '../shell/local-storage.ts'
import { searchQuestionOf, type View } from '../view/address.ts'

/** Figures change once a day; a first pull takes minutes. */
const againMs = 10 * 60_000

/** One query or one page. */
interface Chosen {
  readonly of: 'query' | 'page'
  readonly key: string
}

/** Where the panel's height stands when this browser showed it last, in pixels: its place is kept until the answer comes. */
const heightPlace = (workspaceId: number) => `height of search terms ${workspaceId}`

export function SearchTermsPanel({ view, workspaceId }: { view: View; workspaceId: number }) {
  const [isOfPages, showPages] = useState(false)
  const [chosen, choose] = useState<Chosen>()
  const heading = useRef<HTMLHeadingElement>(null)
  const { refusal, done } = useRefusal()
  const path = `/analytics/search?${searchQuestionOf(view, chosen && { [chosen.of]: chosen.key })}`
  const { answer, failure, isStale } = useAnswer<SearchTerms>(path, { againMs })
  const isThis = useAnswered(chosen, isStale) === chosen
  const panel = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    if (answer) writeStored(heightPlace(workspaceId), String(panel.current?.offsetHeight ?? 0))
  }, [answer, workspaceId])
  // The row that was chosen is gone: the keyboard goes on from its name.
  useEffect(() => {
    if (chosen !== undefined) heading.current?.focus()
  }, [chosen])
  if (answer === undefined) {
    const height = failure ? 0 : Number(readStored(heightPlace(workspaceId)))
    return height > 0 ? (
      <section class="panel" aria-label={titles.query} aria-busy style={{ height: `${height}px` }} />
    ) : null
  }
  if (answer.state === 'not_connected') return null
  const of = (chosen ? chosen.of === 'query' : isOfPages) ? 'page' : 'query'
  const rows = isThis ? rowsOf(answer, of) : []
  const { totals, previous } = answer
  const saveAll = async () => {
    const sent = await fetchOnce<SearchTerms>(`${path}&limit=${searchListRowsMax}`)
    done(sent)
    if ('made' in sent) saveFile(`${titles[of]}.csv`, linesOf(fileOf(of, rowsOf(sent.made, of))))
  }
  const file = (
    <span>
      <span class="label">Clicks, position</span>{' '}
      <button type="button" aria-disabled={rows.length === 0} onClick={saveAll}>
        CSV
      </button>
    </span>
  )
  return (
    <section ref={panel} class="panel" aria-label="Search terms" aria-busy={isStale}>
      {chosen ? (
        <div class="tabs">
          <h2 ref={heading} tabIndex={-1}>
            {of === 'page' ? 'Pages found by' : 'Search terms of'} <bdi>{shownKey(chosen.of, chosen.key)}</bdi>
          </h2>
          <button type="button" onClick={() => choose(undefined)}>
            All
          </button>
          {file}
        </div>
      ) : (
        <div class="tabs">
          <button type="button" aria-pressed={!isOfPages} onClick={() => showPages(false)}>
            {titles.query}
          </button>
          <button type="button" aria-pressed={isOfPages} onClick={() => showPages(true)}>
            {titles.page}
          </button>
          {file}
        </div>
      )}
      {failure && <Failure {...failure} />}
      <Refusal text={refusal} />
      {rows.length === 0 && (isThis || !failure) && <p class="empty">{isThis ? 'Nothing in this range.' : '…'}</p>}
      <ul>
        {rows.map((row) => (
          <Row key={row.key} of={of} row={row} all={totals.clicks} choose={chosen ? undefined : choose} />
        ))}
      </ul>
      {isThis && (
        <p class="note">
          {number(totals.clicks)} clicks{previous && <Changed now={totals.clicks} before={previous.clicks} />} of{' '}
          {number(totals.impressions)} impressions
          {previous && <Changed now={totals.impressions} before={previous.impressions} />} on Google.{' '}
          {latenessOf(answer)}
          {answer.lists_cut && ' Some days have more terms than are kept.'}
        </p>
      )}
    </section>
  )
}

const titles = { query: 'Search terms', page: 'Pages on Google' } as const

function Changed({ now, before }: { now: number; before: number }) {
  return (
    <span title={`Before: ${number(before)}`}>
      {' '}
      <ChangeMark changed={changeOf(now, before, Math.min(now, before))} />
    </span>
  )
}

function fileOf(of: Chosen['of'], rows: readonly RowProps['row'][]): (string | number)[][] {
  const head = [of === 'query' ? 'Search term' : 'Page', 'Clicks', 'Impressions', 'Clicked (%)', 'Position']
  return [head, ...rows.map(({ key, clicks, impressions, ctr, position }) => [key, clicks, impressions, ctr, position])]
}

function rowsOf({ queries, pages }: SearchTerms, of: Chosen['of']): readonly RowProps['row'][] {
  if (of === 'query') return queries.map(({ query, ...figures }) => ({ key: query, ...figures }))
  return pages.map(({ page, ...figures }) => ({ key: page, ...figures }))
}

interface RowProps {
  readonly of: Chosen['of']
  readonly row: SearchTerms['totals'] & { readonly key: string }
  /** The clicks that it has a share of. */
  readonly all: number
  /** Undefined: one is chosen already. */
  readonly choose: ((chosen: Chosen) => void) | undefined
}

function Row({ of, row: { key, clicks, impressions, ctr, position }, all, choose }: RowProps) {
  const title = `${key}\n${number(impressions)} impressions, ${percent(ctr)} clicked`
  const inside = (
    <>
      <span class="bar" style={{ width: `${(clicks * 100) / Math.max(1, all)}%` }} aria-hidden="true" />
      <span class="name">
        <bdi>{shownKey(of, key)}</bdi>
      </span>
      <span class="number">{number(clicks)}</span>
      <span class="share">{position.toFixed(1)}</span>
    </>
  )
  if (choose === undefined)
    return (
      <li class="row" title={title}>
        {inside}
      </li>
    )
  return (
    <li>
      <button type="button" class="row" title={title} onClick={() => choose({ of, key })}>
        {inside}
      </button>
    </li>
  )
}

/** A page by what stands behind its host. */
function shownKey(of: Chosen['of'], key: string): string {
  return of === 'query' ? key : key.replace(/^https?:\/\/[^/]+(?=\/.)/, '')
}

function latenessOf({ state, data_through: through }: SearchTerms): string {
  const known = through === null ? 'No day has figures yet.' : `Through ${daysInWords({ from: through, to: through })}.`
  if (state === 'needs_reconnecting') return `${known} Google refuses the key: see Settings.`
  return state === 'loading' ? `${known} Earlier days are still being read.` : known
}
