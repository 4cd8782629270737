/** All examinations: the stores first, then what needs those that answer, each by itself and under a deadline. */
import { withDeadline } from '../../runtime/shutdown.ts'
import { examinationDeadlineMs } from '../../schemas/limits/doctor-limits.ts'
import type { Environment } from '../command.ts'
import type { Installation } from '../installation.ts'
import { examineClickHouse } from './examine-clickhouse.ts'
import { examineDisk } from './examine-disk.ts'
import { examineIngest } from './examine-ingest.ts'
import { examineMail } from './examine-mail.ts'
import { examinePostgres, examineSecretKey } from './examine-postgres.ts'
import { examineRedis } from './examine-redis.ts'
import { examineNode, examineSettings } from './examine-settings.ts'
import { examineFold, examineMarks, examineSalts } from './examine-shipping.ts'
import { examineBotLists, examineCountries } from './examine-visitors.ts'
import { type Check, checks, type Finding, failed, lineOf } from './finding.ts'
import { reachStores } from './reach.ts'

export interface ExamineOptions {
  readonly installation: Installation
  readonly environment: Environment
  /** Root of an ingest node, in place of what is found. */
  readonly ingestUrl: string | undefined
}

/**
 * A failed check doesn't keep it from the others. A store that is down fails its own check; what needs it is left out.
 */
export async function examineAll({ installation, environment, ingestUrl }: ExamineOptions): Promise<Finding[]> {
  const { reached, findings } = await reachStores(installation, new Set(environment.wrong.keys()))
  const { pg, ch, redis } = reached
  try {
    const rest = await Promise.all([
      examined('node', () => [examineNode()]),
      examined('settings', () => examineSettings(environment, installation)),
      examined('disk', () => examineDisk(installation)),
      examined('ingest', () => examineIngest(installation, ingestUrl)),
      examined('countries', () => examineCountries(installation)),
      examined('bots.addresses', () => examineBotLists(installation)),
      examined('mail', () => examineMail(installation, environment.wrong, pg)),
      pg && examined('postgres', () => examinePostgres(pg)),
      pg && examined('postgres.secret-key', () => examineSecretKey(pg, installation)),
      ch && examined('clickhouse', () => examineClickHouse(ch)),
      redis && examined('redis', () => examineRedis(redis, installation.config)),
      pg && examined('salts', () => examineSalts(pg)),
      pg && ch && examined('marks', () => examineMarks(pg, ch)),
      pg && ch && examined('fold', () => examineFold(pg, ch)),
    ])
    const all = [...findings, ...rest.flatMap((found) => found ?? [])]
    return all.sort((a, b) => checks.indexOf(a.check) - checks.indexOf(b.check))
  } finally {
    redis?.close()
  }
}

async function examined(check: Check, examine: () => Promise<Finding[]> | Finding[]): Promise<Finding[]> {
  try {
    return await withDeadline(Promise.resolve(examine()), examinationDeadlineMs, 'looking at it')
  } catch (error) {
    return [failed(check, `it couldn't be looked at: ${lineOf(error)}`)]
  }
}
