/** The newest titles of pages in a range, in whichever session. Held by test/property/pages.test.ts. */
import type { IdRange } from '../../../schemas/event/id-ranges.ts'
import { cellOfPage } from '../../rollups/appearance.ts'
import { idsIn, moment } from '../../rollups/event-sql.ts'
import { type CellDays, inBuild, inWorkspace } from '../overview/figure-parts.ts'
import type { Pieces } from '../overview/pieces.ts'
import { spansOf } from '../overview/spans-of.ts'
import { fewRowsStatement, type Reader } from '../reader.ts'

export interface PageKey {
  readonly path: string
  /** Its `cityHash64`. */
  readonly page: string
}

export interface TitlesRequest {
  readonly workspaceId: number
  readonly build: number
  readonly pieces: Pieces
  readonly cells: CellDays
  readonly pages: readonly PageKey[]
  /** Ids of the events that are seen. */
  readonly folded: readonly IdRange[]
}

/** @returns by path; one without a title is left out */
export async function readTitles(ch: Reader, request: TitlesRequest): Promise<ReadonlyMap<string, string>> {
  const { workspaceId, build, pieces, cells, pages, folded } = request
  const chosen = pages.length <= pathsSentMax ? pathsOf(pages) : hashesOf(pages)
  const { days, staleDays, spans } = spansOf(pieces, cells, true)
  const seen = idsIn(folded, 'folded')
  const isReached = spans.map((_, at) => `(occurred_at>=${moment(`from_${at}`)} AND occurred_at<${moment(`to_${at}`)})`)
  const parts = [
    `SELECT key AS page,sample.latest.4 AS newest,(sample.latest.1,sample.latest.2) AS moment FROM cells FINAL ARRAY JOIN sample
     WHERE ${inBuild} AND kind=${cellOfPage} AND ${chosen.isIn('key')} AND sample.metric=0
       AND day>={from_day:UInt16} AND day<={to_day:UInt16} AND day NOT IN {stale_days:Array(UInt16)}`,
    ...(spans.length === 0
      ? []
      : [
          `SELECT toString(path) AS page,argMax(toString(title),(occurred_at,id)) AS newest,max((occurred_at,id)) AS moment FROM events
           WHERE ${inWorkspace} AND (${isReached.join(' OR ')}) AND ${seen.sql} AND kind='pageview' AND title!=''
             AND ${chosen.isIn('path')} GROUP BY path`,
        ]),
  ]
  const rows = await ch.query<{ path: string; title: string }>(
    `SELECT page AS path,argMax(newest,moment) AS title FROM (${parts.join(' UNION ALL ')}) GROUP BY page`,
    {
      ...seen.params,
      ...chosen.params,
      workspace: workspaceId,
      build,
      from_day: days.from,
      to_day: days.to,
      stale_days: staleDays,
      ...Object.fromEntries(
        spans.flatMap(({ start, end }, at) => [
          [`from_${at}`, start],
          [`to_${at}`, end],
        ]),
      ),
    },
    { settings: fewRowsStatement },
  )
  return new Map(rows.map(({ path, title }) => [path, title]))
}

/** More are named by their hashes: the client takes a millisecond for 5,000 characters of a parameter, and a path may have 2,000. */
const pathsSentMax = 100

/** The sorting key of cells finds them. */
function pathsOf(pages: readonly PageKey[]) {
  return {
    isIn: (column: string) => `${column} IN {paths:Array(String)}`,
    params: { paths: pages.map(({ path }) => path) },
  }
}

function hashesOf(pages: readonly PageKey[]) {
  return {
    isIn: (column: string) =>
      `cityHash64(${column}) IN (SELECT arrayJoin(arrayMap(one->toUInt64(one),{pages:Array(String)})))`,
    params: { pages: pages.map(({ page }) => page) },
  }
}
