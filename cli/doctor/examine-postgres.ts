/** Postgres, as far as what is promised rests on it: the schema is ours and whole, and what it commits stays. */
import type { Postgres } from '../../postgres/client.ts'
import { pendingInPostgres } from '../../postgres/migrate.ts'
import { OtherSecretKey, requireSecretKey } from '../../postgres/tables/operation/secret-key-check.ts'
import type { Installation } from '../installation.ts'
import { type Check, type Finding, failed, lineOf, ok, warning } from './finding.ts'

export async function examinePostgres(pg: Postgres): Promise<Finding[]> {
  return [await judgeSchema('postgres.schema', () => pendingInPostgres(pg)), ...(await durability(pg))]
}

export async function examineSecretKey(pg: Postgres, { givenSecretKey }: Installation): Promise<Finding[]> {
  const check = 'postgres.secret-key'
  const key = givenSecretKey()
  // `settings` says where there has to be one.
  if (key === undefined) return []
  try {
    const hasKey = await requireSecretKey(pg, key)
    return [ok(check, hasKey ? 'SECRET_KEY is that of the data' : 'no service has started with a SECRET_KEY yet')]
  } catch (error) {
    if (error instanceof OtherSecretKey) return [failed(check, error.message)]
    throw error
  }
}

/** @param pending reads the names of the migrations that are still to run */
export async function judgeSchema(check: Check, pending: () => Promise<string[]>): Promise<Finding> {
  try {
    const names = await pending()
    if (names.length === 0) return ok(check, 'all migrations have run')
    return failed(check, `still to run: ${names.join(', ')}; run \`svc migrate\``)
  } catch (error) {
    return failed(check, `${lineOf(error)}: use the version of svc that the services run`)
  }
}

async function durability(pg: Postgres): Promise<Finding[]> {
  const [row] = await pg.query<
    Record<'fsync' | 'full_page_writes' | 'synchronous_commit', string> & Record<'copy' | 'elsewhere', boolean>
  >(
    // Neon and Aurora store commits on other machines. Their fsync and full_page_writes are off, and users can't set them.
    `SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
       current_setting('synchronous_commit') AS synchronous_commit, pg_is_in_recovery() AS copy,
       current_setting('neon.timeline_id', true) IS NOT NULL OR to_regproc('aurora_version') IS NOT NULL AS elsewhere`,
  )
  const { fsync, full_page_writes, synchronous_commit, copy, elsewhere } = row!
  const findings: Finding[] = []
  const say = (finding: Finding) => findings.push(finding)
  if (copy) say(failed('postgres.durability', 'is a standby, which takes no writes: name the primary in DATABASE_URL'))
  for (const [name, value] of Object.entries(elsewhere ? {} : { fsync, full_page_writes })) {
    if (value === 'off') say(failed('postgres.durability', `${name} is off, a power loss breaks it: set it on`))
  }
  if (synchronous_commit === 'off') {
    const why = 'a crash of Postgres loses commits that were answered'
    say(warning('postgres.durability', `synchronous_commit is off, ${why}: set it on`))
  }
  return findings.length > 0 ? findings : [ok('postgres.durability', 'commits are synced before they are answered')]
}
