import { raiseRestoredLeases } from '../../postgres/tables/segment-leases.ts'
import { streams } from '../../schemas/event/row.ts'
import { segmentLeaseSize, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { defineCommand } from '../command.ts'

/** Rows of streams have ids of leased segments, derived ones have versions and builds, and all have their workspace. */
const streamed = Object.values(streams).map(({ table }) => table)
const derived = ['sessions', 'visitors', 'credits', 'cells']
const all = [...streamed, ...derived, 'person_events']

const tables = (names: readonly string[]) => `merge(currentDatabase(), '^(${names.join('|')})$')`

/** They read a column of every event. */
const deadlineMs = 10 * 60_000

export const restoreNumbers = defineCommand({
  name: 'restore numbers',
  summary:
    'After a restore of Postgres: give out no number again that rows in ClickHouse have. The pipeline must be down.',
  options: {},
  async run({ installation }) {
    const [stored] = await installation
      .clickhouse()
      .query<Record<'id' | 'version' | 'build' | keyof typeof identities, number>>(
        `SELECT id, version, build, workspaces, links, posts FROM
         (SELECT max(id) AS id FROM ${tables(streamed)}) AS received,
         (SELECT max(version) AS version, max(build) AS build FROM ${tables(derived)}) AS derived,
         (SELECT max(workspace_id) AS workspaces FROM ${tables(all)}) AS stored,
         (SELECT max(link_id) AS links, max(post_id) AS posts FROM ${tables(['events', 'link_clicks'])}) AS followed`,
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
    return raised!
  },
  show: (raised) =>
    Object.entries(raised)
      .map(([name, number]) => `${name}: numbers above ${number}`)
      .join('\n'),
})

const serial = (table: string) => `pg_get_serial_sequence('${table}', 'id')`
const identities = { workspaces: serial('workspaces'), links: serial('links'), posts: serial('posts') }

/** Never lowers it. */
function raise(sequence: string, parameter: number): string {
  return `setval(${sequence}, greatest(nextval(${sequence}), $${parameter}::bigint))`
}
