/** Results of a link or post: visits from ClickHouse, revenue from the ledger; for keys that may read analytics. */
import type { Reader } from '../../../clickhouse/queries/reader.ts'
import {
  type LandingPage,
  readLandingPages,
  readVisitsOf,
  type Visits,
  type VisitsRequest,
} from '../../../clickhouse/queries/visits-of.ts'
import { readCurrentBuild } from '../../../postgres/tables/figures/figure-builds.ts'
import { readRevenueLedTo } from '../../../postgres/tables/revenue/revenue-figures.ts'
import { StoreUnavailable } from '../../../runtime/store-error.ts'
import type { LinkRevenue } from '../../../schemas/resources/link.ts'
import type { Scope } from '../../../schemas/scopes.ts'
import type { CallContext } from '../define.ts'

/** The link or post that visits came by. */
type LinkOrPost = { readonly column: 'link_id' | 'post_id'; readonly id: number; readonly readableFrom: number }

const mayRead = ({ scopes }: CallContext) => scopes.includes('analytics:read' satisfies Scope)

/** Null without the scope, and while ClickHouse is away. */
export function visitsOf(context: CallContext, origin: LinkOrPost): Promise<Visits | null> {
  return readOf(context, origin, readVisitsOf)
}

export interface VisitsByPage extends Visits {
  readonly pages: readonly LandingPage[]
}

/** The same with the pages of arrival. */
export function visitsByPageOf(context: CallContext, origin: LinkOrPost): Promise<VisitsByPage | null> {
  return readOf(context, origin, async (ch, request) => {
    const [visits, pages] = await Promise.all([readVisitsOf(ch, request), readLandingPages(ch, request)])
    return { ...visits, pages }
  })
}

async function readOf<Answer>(
  context: CallContext,
  origin: LinkOrPost,
  read: (ch: Reader, request: VisitsRequest) => Promise<Answer>,
): Promise<Answer | null> {
  if (!mayRead(context)) return null
  const { workspace, stores, log, requestId } = context
  const { pg, ch } = stores
  // Build 0 has no rows.
  const build = (await readCurrentBuild(pg, workspace.id))?.build ?? 0
  return read(ch, { workspaceId: workspace.id, build, ...origin }).catch((error) => {
    if (!(error instanceof StoreUnavailable)) throw error
    log.warn({ err: error, requestId }, 'a link or post is shown without its visits')
    return null
  })
}

/** Null without the scope. */
export async function revenueOf(
  context: CallContext,
  { column, id, readableFrom }: LinkOrPost,
): Promise<LinkRevenue | null> {
  if (!mayRead(context)) return null
  const { workspace, stores, clock } = context
  const span = { start: readableFrom, end: clock.now() }
  const { payments, cents, apart } = await readRevenueLedTo(
    stores.pg,
    { column, id },
    { workspaceId: workspace.id, currency: workspace.currency, ...span },
  )
  return { payments, revenue_cents: cents, revenue_by_currency: { ...apart } }
}
