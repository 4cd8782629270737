/**
 * One fold: takes the events that came since the last one, and finds the visitors they touch. It derives these visitors'
 * rows anew from `events`, and replaces them.
 *
 *   readTouched ─► readKnown ─► readSessionDays ─► deriveRows ─► visitors, credits, sessions + coverage ─► commitFold
 *
 * Every row is a function of the stored events. So a fold that died anywhere is simply done again: the same rows are written
 * under a higher version. The rows of `sessions` and the coverage (which events they reflect) are one insert of one
 * part, which readers see whole. The overview reads no `visitors`, and counts only conversions within the coverage.
 * People and credit do read `visitors`, and may see rows of a fold under way. Held by
 * test/property/overview-folded.test.ts and test/crash/kill.test.ts.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { coverageRow } from '../../clickhouse/rollups/tables.ts'
import type { Postgres } from '../../postgres/client.ts'
import {
  type BuildDay,
  type FigureBuild,
  listOpenBuildsOf,
  makeMissingBuilds,
  markCellsStale,
} from '../../postgres/tables/figures/figure-builds.ts'
import {
  commitFold,
  type FoldState,
  rangesOf,
  readFoldState,
  takeFoldVersion,
  type Watermark,
} from '../../postgres/tables/figures/folds.ts'
import { readCreditsOfEvents } from '../../postgres/tables/people/person-credits.ts'
import { forEachAtMost } from '../../runtime/for-each.ts'
import { inPortions } from '../../runtime/lists.ts'
import { type IdRange, subtractRanges } from '../../schemas/event/id-ranges.ts'
import {
  conversionsPerLookUp,
  foldEventsMax,
  lookUpsAtOnce,
  visitorsPerLookUpMax,
} from '../../schemas/limits/figure-limits.ts'
import { segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { type LocalDays, localDays } from '../../schemas/time/local-days.ts'
import { hourMs } from '../../schemas/time/time-zone.ts'
import { type DeriveOptions, deriveRows, noHistory } from './derive-rows.ts'
import { groupByDay, groupReadTogether } from './groups.ts'
import { readSessionDays, type SessionDay } from './read-session-days.ts'
import { findCut, type KnownVisitor, nameOf, readKnown, readTouched, type TouchedVisitor } from './read-touched.ts'
import { RowsToWrite } from './rows-to-write.ts'
import { inStatements, type StoredEventsLimits, storedEventsLimits } from './stored-events.ts'

/** The stores, for work that is done while the lease to fold is held. */
export interface LeasedStores {
  readonly pg: Postgres
  readonly ch: ClickHouse
  /** Before each statement. @throws when the work is another's now, or is to end */
  readonly ensureLease: () => Promise<void>
}

export interface FoldResult {
  /** Rows of `sessions` that were written. */
  readonly sessions: number
  /** False: more events wait, and can be folded at once. */
  readonly isAllTaken: boolean
}

/** @throws when another fold was committed meanwhile, or a store is away: nothing is lost, the next fold takes the same */
export async function fold(
  work: LeasedStores,
  eventsMax: number = foldEventsMax,
  limits: StoredEventsLimits = storedEventsLimits,
): Promise<FoldResult> {
  const { pg, ch, ensureLease } = work
  await ensureLease()
  // Before the state is read: later folds replace the rows of a fold that was held up here.
  const version = await takeFoldVersion(pg)
  const state = await readFoldState(pg)
  if (state.version > version) throw overtaken()
  const { touched, ...taken } = await takeEvents(ch, state, eventsMax)
  if (touched === undefined) {
    const { watermarks, asOf } = taken
    if (asOf > state.asOf)
      await commitFold(pg, { from: state.version, version: state.version, asOf, watermarks, repairIds: [] })
    return { sessions: 0, isAllTaken: true }
  }
  const builds = await buildsOf(pg, touched)
  const visible = rangesOf(taken.watermarks)
  const rows = new RowsToWrite(version)
  const lacking = state.repairs.filter(({ lacksRows }) => lacksRows)
  const repaired = new Set(lacking.map(({ workspaceId, visitor }) => nameOf(workspaceId, visitor ?? '')))
  for (const group of groupReadTogether(builds))
    await deriveTouched(work, touched, group, { version, visible, limits, repaired }, rows)
  await ensureLease()
  // Readers count these days from `sessions`, until renewCells has written their cells anew.
  await markCellsStale(
    pg,
    builds.flatMap((build) => closedDaysOf(rows, build)),
  )
  await rows.insert(ch, coverageRow(version, visible, taken.asOf))
  const isCommitted = await commitFold(pg, {
    from: state.version,
    version,
    asOf: taken.asOf,
    watermarks: taken.watermarks,
    repairIds: state.repairs.map(({ id }) => id),
  })
  if (!isCommitted) throw overtaken()
  return { sessions: rows.sessions, isAllTaken: taken.isAll }
}

function overtaken(): Error {
  return new Error('another process has folded meanwhile')
}

interface TakenEvents {
  /** Undefined: there is nothing to fold. */
  readonly touched: TouchedVisitor[] | undefined
  readonly watermarks: readonly Watermark[]
  /** Every event answered 202 before this is below the watermarks. */
  readonly asOf: number
  readonly isAll: boolean
}

/** Takes at most `eventsMax` unfolded events, the oldest ids first. */
async function takeEvents(ch: ClickHouse, state: FoldState, eventsMax: number): Promise<TakenEvents> {
  const { folded, shipped, asOf, shippedAsOf, repairs } = state
  const added = subtractRanges(rangesOf(shipped), rangesOf(folded))
  const all = { watermarks: shipped, asOf: Math.max(asOf, shippedAsOf), isAll: true }
  if (added.length === 0 && repairs.length === 0) return { ...all, touched: undefined }
  // Mostly all can be taken. Ids have gaps, so only reading tells.
  const touched = await readTouched(ch, added, repairs, eventsMax)
  if (touched !== undefined) return { ...all, touched }
  const cut = (await findCut(ch, added, eventsMax)) ?? Number.POSITIVE_INFINITY
  const foldedThrough = new Map(folded.map(({ firstSegment, through }) => [firstSegment, through]))
  const watermarks = shipped.map((watermark) => {
    const before = foldedThrough.get(watermark.firstSegment) ?? watermark.firstSegment * segmentRowsMax - 1
    return { ...watermark, through: Math.max(before, Math.min(watermark.through, cut)) }
  })
  const oldest = await readTouched(ch, subtractRanges(rangesOf(watermarks), rangesOf(folded)), repairs, eventsMax)
  if (oldest === undefined) throw new Error('more events than may be taken have the oldest ids')
  return { touched: oldest, watermarks, asOf, isAll: false }
}

/** The builds that touched workspaces have, each made where it is missing. Events of a workspace that is gone stay unfolded. */
async function buildsOf(pg: Postgres, touched: readonly TouchedVisitor[]): Promise<FigureBuild[]> {
  const ids = [...new Set(touched.map(({ workspaceId }) => workspaceId))]
  const builds = await listOpenBuildsOf(pg, ids)
  const known = new Set(builds.filter(({ state }) => state === 'current').map(({ workspaceId }) => workspaceId))
  const missing = ids.filter((id) => !known.has(id))
  if (missing.length === 0) return builds
  await makeMissingBuilds(pg, missing)
  return listOpenBuildsOf(pg, ids)
}

export interface DerivationOptions {
  readonly version: number
  /** Ids of the events that are seen. */
  readonly visible: readonly IdRange[]
}

interface TouchedOptions extends DerivationOptions {
  readonly limits: StoredEventsLimits
  /** Names (`nameOf`) of visitors whose rows an erasure has deleted: the fold must write them anew. */
  readonly repaired: ReadonlySet<string>
}

/** Visitors are looked up together, by the local day of their earliest new event. */
async function deriveTouched(
  { pg, ch, ensureLease }: LeasedStores,
  touched: readonly TouchedVisitor[],
  group: readonly FigureBuild[],
  { version, visible, limits, repaired }: TouchedOptions,
  rows: RowsToWrite,
): Promise<void> {
  const { timezone } = group[0]!
  const buildOf = new Map(group.map(({ workspaceId, build }) => [workspaceId, build]))
  const own = touched.filter(({ workspaceId }) => buildOf.has(workspaceId))
  if (own.length === 0) return
  const days = localDays(timezone, ...spanOf(own))
  const lookUps = groupByDay(own, ({ firstAt }) => days.dayOf(firstAt)).flatMap(({ fromDay, all }) =>
    inPortions(all, visitorsPerLookUpMax).map((visitors) => ({ fromDay, visitors })),
  )
  const inProgress = new Set(group.filter(({ state }) => state !== 'current').map(({ workspaceId }) => workspaceId))
  const failed = new AbortController()
  const lookUp = async ({ fromDay, visitors }: (typeof lookUps)[number]) => {
    await ensureLease()
    const asked = visitors
      .filter(({ visitor }) => visitor !== '0')
      .map(({ workspaceId, visitor }) => ({ workspaceId, visitor, build: buildOf.get(workspaceId)! }))
    const known = asked.length === 0 ? new Map<string, KnownVisitor>() : await readKnown(ch, asked, fromDay)
    const reach = reachOf(timezone, days, fromDay, [...known.values()])
    const hours = visitors.flatMap(({ workspaceId, visitor, hours: touchedHours }) => {
      const knownDays = known.get(nameOf(workspaceId, visitor))?.days ?? []
      const knownHours = knownDays.flatMap(([day, mask]) => hoursOf(mask, reach.startOf(day)))
      return [...new Set([...touchedHours, ...knownHours])].map((hour) => [workspaceId, hour, visitor] as const)
    })
    // A build in progress has rows only for the parts that are built so far.
    const lacksRows = (workspaceId: number, visitor: string) => {
      const name = nameOf(workspaceId, visitor)
      return repaired.has(name) || (inProgress.has(workspaceId) && !known.has(name))
    }
    for (const some of await inStatements(ch, hours, { known, lacksRows }, limits)) {
      await ensureLease()
      await addDerived(pg, readSessionDays(ch, { hours: some }, visible, reach), rows, ({ workspaceId, visitor }) => {
        const history = known.get(nameOf(workspaceId, visitor))?.history ?? noHistory
        return { build: buildOf.get(workspaceId)!, version, fromDay, history }
      })
    }
  }
  // Late events make few visitors of earlier days, who are looked up beside those of today.
  await forEachAtMost(lookUpsAtOnce, lookUps, failed.signal, (each) =>
    lookUp(each).catch((error) => {
      failed.abort()
      throw error
    }),
  )
}

/** Derives all rows of a share of a workspace's visitors. */
export async function derivePart(
  { pg, ch }: Pick<LeasedStores, 'pg' | 'ch'>,
  { build, workspaceId }: Pick<FigureBuild, 'build' | 'workspaceId'>,
  share: { readonly part: number; readonly parts: number },
  days: LocalDays,
  { version, visible }: DerivationOptions,
): Promise<RowsToWrite> {
  const rows = new RowsToWrite(version)
  const options = { build, version, fromDay: days.numbers[0]!, history: noHistory }
  await addDerived(pg, readSessionDays(ch, { workspaceId, ...share }, visible, days), rows, () => options)
  return rows
}

/** Visitors with conversions wait for each other, so that one statement reads the credit of all. */
async function addDerived(
  pg: Postgres,
  visitors: AsyncIterable<readonly SessionDay[]>,
  rows: RowsToWrite,
  optionsOf: (first: SessionDay) => DeriveOptions,
): Promise<void> {
  let waiting: (readonly SessionDay[])[] = []
  let ids: number[] = []
  const addWaiting = async () => {
    const personCredits = await readCreditsOfEvents(pg, ids)
    for (const ofVisitor of waiting) rows.add(deriveRows(ofVisitor, { ...optionsOf(ofVisitor[0]!), personCredits }))
    waiting = []
    ids = []
  }
  for await (const ofVisitor of visitors) {
    const converted = ofVisitor.flatMap(({ conversions }) => conversions.map(([, id]) => id))
    if (converted.length === 0) {
      rows.add(deriveRows(ofVisitor, optionsOf(ofVisitor[0]!)))
      continue
    }
    waiting.push(ofVisitor)
    for (const id of converted) ids.push(id)
    if (ids.length >= conversionsPerLookUp) await addWaiting()
  }
  await addWaiting()
}

/** Days of these rows that have cells already. */
function closedDaysOf({ days }: RowsToWrite, { build, workspaceId, timezone, cellsThrough }: FigureBuild): BuildDay[] {
  return [...(days.get(build) ?? [])]
    .filter((day) => day <= (cellsThrough ?? -1))
    .map((day) => ({ build, workspaceId, timezone, day }))
}

/** The days from two before `fromDay` to the last one that is known. */
function reachOf(
  timezone: string,
  days: LocalDays,
  fromDay: number,
  known: readonly { readonly days: readonly (readonly [day: number, hours: number])[] }[],
): LocalDays {
  const lastDay = known.reduce((last, each) => each.days.reduce((max, [day]) => Math.max(max, day), last), fromDay)
  const dayLength = 24 * hourMs
  const from = days.startOf(fromDay)
  return localDays(timezone, from, Math.max(days.starts.at(-1)!, from + (lastDay - fromDay + 1) * dayLength))
}

function hoursOf(mask: number, dayStart: number): number[] {
  const first = Math.floor(dayStart / hourMs)
  const hours: number[] = []
  for (let bit = 0; bit < 32; bit++) if ((mask >>> bit) & 1) hours.push(first + bit)
  return hours
}

function spanOf(touched: readonly TouchedVisitor[]): [from: number, to: number] {
  let from = Number.POSITIVE_INFINITY
  let to = 0
  for (const { firstAt, hours } of touched) {
    from = Math.min(from, firstAt)
    for (const hour of hours) to = Math.max(to, (hour + 1) * hourMs)
  }
  return [from, to]
}
