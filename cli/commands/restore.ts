/** After a restore of Postgres: numbers and marks that its backup is behind with. */

import { readPostgresClock } from '../../postgres/clock.ts'
import { raiseDeadMarks, raiseRestoredLeases } from '../../postgres/tables/operation/segment-leases.ts'
import { sleep } from '../../runtime/retry.ts'
import { streams } from '../../schemas/event/row.ts'
import { leaseSilentMs } from '../../schemas/limits/figure-limits.ts'
import { numbersSkippedByRestore, segmentLeaseSize, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { defineCommand } from '../command.ts'
import { countRowsAbove, findLeasesAboveMarks } from '../figures/rows-above-marks.ts'

/** Rows of streams have ids of leased segments, derived ones have versions and builds, and all have their workspace. */
const streamed = Object.keys(streams)
const derived = ['sessions', 'visitors', 'credits', 'cells']
const all = [...streamed, ...derived, 'person_events', 'search_days']

const tables = (names: readonly string[]) => `merge(currentDatabase(), '^(${names.join('|')})$')`

/** They read a column of every event. */
const deadlineMs = 10 * 60_000

export const restoreNumbers = defineCommand({
  name: 'restore numbers',
  summary:
    'After a restore of Postgres: give out no number again that rows in ClickHouse or others know. The pipeline must be down.',
  options: {},
  async run({ installation }) {
    const ch = await installation.answeringClickhouse()
    const [stored] = await ch.query<Record<'id' | 'version' | 'build' | keyof typeof identities, number>>(
      `SELECT id, version, build, workspaces, links, posts, sites FROM
         (SELECT max(id) AS id FROM ${tables(streamed)}) AS received,
         (SELECT max(version) AS version, max(build) AS build FROM ${tables(derived)}) AS derived,
         (SELECT max(workspace_id) AS workspaces FROM ${tables(all)}) AS stored,
         (SELECT max(link_id) AS links, max(post_id) AS posts FROM ${tables(['events', 'link_clicks'])}) AS followed,
         (SELECT max(site) AS sites FROM search_days) AS searched`,
      {},
      { deadlineMs },
    )
    const { id, version, build, ...numbers } = stored!
    const pg = installation.postgres()
    await raiseRestoredLeases(pg, Math.floor(id / segmentRowsMax), segmentLeaseSize)
    const [raised] = await pg.query<Record<string, number>>(
      `SELECT (SELECT last_value FROM segment_leases) AS leases, ${raise("'fold_versions'", 1)} AS version, ${raise("'figure_builds_numbers'", 2)} AS build,
         ${Object.entries(identities).map(([name, sequence], at) => `${raise(sequence, at + 3)} AS ${name}`)}`,
      [version, build, ...Object.keys(identities).map((name) => numbers[name as keyof typeof identities])],
    )
    const skipping = Object.entries(publicObjects).map(
      ([name, sequence]) => `setval(${sequence}, nextval(${sequence}) + ${numbersSkippedByRestore}) AS ${name}`,
    )
    const [skipped] = await pg.query<Record<string, number>>(`SELECT ${skipping}`)
    return { ...raised, ...skipped }
  },
  show: (raised) =>
    Object.entries(raised)
      .map(([name, number]) => `${name}: numbers above ${number}`)
      .join('\n'),
})

const serial = (table: string) => `pg_get_serial_sequence('${table}', 'id')`
const identities = {
  workspaces: serial('workspaces'),
  links: serial('links'),
  posts: serial('posts'),
  sites: serial('search_sites'),
}

/** Objects that webhooks and answers name: a receiver takes one with a lost one's number for the same. */
const publicObjects = {
  workspaces: identities.workspaces,
  links: identities.links,
  posts: identities.posts,
  contacts: serial('contacts'),
  payments: serial('revenue_payments'),
  feeds: serial('feeds'),
  domains: serial('short_domains'),
  goals: serial('goals'),
  notes: serial('notes'),
  segments: serial('segments'),
  funnels: serial('saved_funnels'),
  snippets: serial('snippets'),
  report_recipients: serial('report_recipients'),
  chat_channels: serial('chat_channels'),
  invitations: serial('invitations'),
  tracking_keys: serial('tracking_keys'),
  revenue_connections: serial('revenue_connections'),
  erasures: serial('erasures'),
  // The audit log names who did something.
  api_keys: serial('api_keys'),
  accounts: serial('owners'),
  media: serial('media'),
  post_targets: serial('post_targets'),
  social_accounts: serial('social_accounts'),
  webhook_endpoints: serial('webhook_endpoints'),
  webhook_deliveries: serial('webhook_deliveries'),
  audit_events: "'audit_event_ids'",
}

/** Never lowers it. */
function raise(sequence: string, parameter: number): string {
  return `setval(${sequence}, greatest(nextval(${sequence}), $${parameter}::bigint))`
}

/**
 * A node that is up publishes its marks twice a second. A node that is silent while the command waits counts as gone.
 * It has stored all that it ever will, so the largest id is its mark. For a node that is only down this may be wrong.
 * Rows in its folder may have ids below the largest, and the fold would never look for them there. That is why the
 * nodes that come back must be up before. Where one wasn't, a rebuild helps: it reads all rows below the marks.
 */
export const restoreMarks = defineCommand({
  name: 'restore marks',
  summary:
    'After a restore of Postgres: count the events of ingest nodes that are gone. All others must be up, and no import or seed run.',
  options: {},
  async run({ installation, progress, signal }) {
    const pg = installation.postgres()
    const found = await findLeasesAboveMarks(installation)
    if (found.length === 0) return []
    const since = await readPostgresClock(pg)
    progress.line(`waits ${leaseSilentMs / 1000} seconds for the ingest nodes that are up`)
    await sleep(leaseSilentMs, signal)
    signal.throwIfAborted()
    const raised = new Set(
      await raiseDeadMarks(
        pg,
        found.map(({ storedThrough }) => storedThrough),
        since,
      ),
    )
    return countRowsAbove(
      installation.clickhouse(),
      found.filter(({ firstSegment }) => raised.has(firstSegment)),
    )
  },
  show: (leases) =>
    leases.length === 0
      ? 'no node is gone whose events are above its marks'
      : leases.map(({ lease, rows }) => `lease ${lease}: events that figures count from now on: ${rows}`).join('\n') +
        '\nIf a node was down meanwhile and comes back, run `svc figures rebuild` then.',
})
