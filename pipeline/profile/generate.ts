/**
 * Generates a requested company profile. If the process dies, another one takes over. A newer request replaces a running
 * one. Held by test/integration/company-profile.test.ts.
 */

import type { ClickHouse } from '../../clickhouse/client.ts'
import { type MostVisited, readMostVisited } from '../../clickhouse/queries/most-visited.ts'
import type { Postgres } from '../../postgres/client.ts'
import { insertOutbox } from '../../postgres/tables/webhooks/outbox.ts'
import { appendSystemChange } from '../../postgres/tables/workspaces/audit.ts'
import {
  type GenerationResult,
  isLastAttempt,
  type OrderedProfile,
  readCompanyProfile,
  releaseReplaced,
  saveProfile,
} from '../../postgres/tables/workspaces/company-profiles.ts'
import { readOwnSignals } from '../../postgres/tables/workspaces/profile-signals.ts'
import { readWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import type { Clock } from '../../runtime/clock.ts'
import { within } from '../../runtime/deadline.ts'
import type { Log } from '../../runtime/log.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { storable } from '../../schemas/json-text.ts'
import {
  profileAttemptsMax,
  profileFetchingMs,
  profileSignalDays,
  profileStyleSheetsMax,
} from '../../schemas/limits/profile-limits.ts'
import { readableFrom } from '../../schemas/time/readable-from.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import { type Fetched, type Fetching, fetchPage, fetchStyleSheet, PageRefused } from './fetch-page.ts'
import { makeProfile } from './make-profile.ts'
import { type Page, readPage } from './read-page.ts'
import { type Looks, readStyleSheet } from './read-style.ts'

export interface Generating {
  readonly pg: Postgres
  readonly ch: Pick<ClickHouse, 'query'>
  readonly clock: Clock
  readonly log: Log
  readonly fetching: Omit<Fetching, 'signal'>
  /** Public root of the API, where media are found. */
  readonly apiHost: string
}

/** Generates a claimed profile. If it throws, the profile is claimed again later. */
export async function generateOrdered(
  context: Generating,
  ordered: OrderedProfile,
  signal: AbortSignal,
): Promise<void> {
  try {
    await generateAndSave(context, ordered, signal)
  } finally {
    await releaseReplaced(context.pg, ordered)
  }
}

const givenUp: GenerationResult = {
  status: 'failed',
  generated: undefined,
  error: 'The profile could not be generated',
}

async function generateAndSave(context: Generating, ordered: OrderedProfile, signal: AbortSignal): Promise<void> {
  const { pg, apiHost } = context
  // A process that died in the last attempt may have died of the page.
  const isUsedUp = ordered.attempts > profileAttemptsMax
  const made = isUsedUp ? Promise.resolve(givenUp) : generate(context, ordered, signal)
  const result = await made.catch((error) => {
    if (signal.aborted || !isLastAttempt(ordered)) throw error
    return givenUp
  })
  await pg.transaction(async (tx) => {
    if (!(await saveProfile(tx, ordered, result))) return
    const shown = await readCompanyProfile(tx, ordered.workspaceId, apiHost)
    await insertOutbox(tx, ordered.workspaceId, 'company_profile.updated', shown)
    await appendSystemChange(tx, {
      workspaceId: ordered.workspaceId,
      actorName: 'pipeline',
      action: 'company_profile.generate',
      resourceId: null,
      metadata: { status: shown.status, version: shown.version },
    })
  })
}

/** Texts that are cut may end in half a character, and pages may hold NUL: Postgres takes neither. */
function storableProfile<Profile>(profile: Profile): Profile {
  return JSON.parse(
    JSON.stringify(profile, (_, value: unknown) => (typeof value === 'string' ? storable(value) : value)),
  ) as Profile
}

async function generate(
  context: Generating,
  { workspaceId, sourceUrls }: OrderedProfile,
  signal: AbortSignal,
): Promise<GenerationResult> {
  const { pg, fetching } = context
  return within(profileFetchingMs, signal, async (deadline) => {
    const fetched = await Promise.all(sourceUrls.map((url) => fetchSource(url, { ...fetching, signal: deadline })))
    signal.throwIfAborted()
    const faults = fetched.filter((one) => typeof one === 'string')
    // Once all have come: while a hostile page is read, the deadlines of others would pass.
    const pages = fetched.filter((one) => typeof one !== 'string').map(({ url, text }) => readPage(url, text))
    const error = faults.length === 0 ? null : faults.join('\n')
    if (pages.length === 0 && sourceUrls.length > 0) return { status: 'failed', generated: undefined, error }
    const [sheets, own, visits] = await Promise.all([
      readStyleSheets(pages, { ...fetching, signal: deadline }),
      readOwnSignals(pg, workspaceId),
      readVisits(context, workspaceId),
    ])
    signal.throwIfAborted()
    return {
      status: 'ready',
      generated: storableProfile(makeProfile({ pages, sheets, sources: sourceUrls.length, own, visits })),
      error,
    }
  })
}

/**
 * Visits of the last days, as far as the workspace may read its analytics: the profile shows no hidden days.
 * Without ClickHouse there are none: they are two lines of a profile that is made of pages.
 */
async function readVisits({ pg, ch, clock, log }: Generating, workspaceId: number): Promise<MostVisited> {
  const none = { pages: [], sources: [] }
  const workspace = await readWorkspace(pg, workspaceId)
  if (workspace === null) return none
  const since = Math.max(clock.now() - profileSignalDays * dayMs, readableFrom(workspace, clock.now()))
  return readMostVisited(ch, workspaceId, since).catch((error: unknown) => {
    if (!(error instanceof StoreUnavailable)) throw error
    log.warn({ err: error, workspaceId }, 'a company profile is generated without its visits')
    return none
  })
}

/** The page’s text, or the reason why there is none. */
async function fetchSource(source: string, fetching: Fetching): Promise<Fetched | string> {
  try {
    return await fetchPage(source, fetching)
  } catch (error) {
    if (error instanceof PageRefused) return `${source}: ${error.message}`
    throw error
  }
}

/** The first `profileStyleSheetsMax` style sheets that pages of the site link. One that can't be had says nothing. */
async function readStyleSheets(pages: readonly Page[], fetching: Fetching): Promise<Looks[]> {
  const linked = [...new Set(pages.flatMap(({ styleSheets }) => styleSheets))].slice(0, profileStyleSheetsMax)
  const read = linked.map(async (source) => {
    try {
      const { url, text } = await fetchStyleSheet(source, fetching)
      return [readStyleSheet(url, text)]
    } catch (error) {
      if (error instanceof PageRefused) return []
      throw error
    }
  })
  return (await Promise.all(read)).flat()
}
