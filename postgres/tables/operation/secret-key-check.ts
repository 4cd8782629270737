/**
 * Holds the data and SECRET_KEY together. With another key every visitor would be new, and no stored secret could be
 * read. So a restore without its key has to fail, and not begin anew in silence. Held by
 * test/integration/start.test.ts, api-process.test.ts and doctor.test.ts.
 */
import { type Config, SettingError } from '../../../runtime/config.ts'
import { makeKeyedHash } from '../../../runtime/crypto/keyed-hash.ts'
import type { Log } from '../../../runtime/log.ts'
import type { Shutdown } from '../../../runtime/shutdown.ts'
import type { Queryable } from '../../client.ts'
import { checkAtStart } from '../../start-check.ts'

export class OtherSecretKey extends SettingError {
  /** @param hash of the key of the data */
  constructor(hash: string) {
    super(
      `SECRET_KEY (or else DATA_DIR/secret.key) isn't the key that the data in Postgres was made with: set that one. If it is lost, see docs/operations.md#a-lost-secret_key and set LOST_SECRET_KEY=${hash}`,
    )
  }
}

export type GivenKey = Pick<Config, 'secretKey' | 'lostSecretKey'>

/**
 * Changes nothing.
 * @returns whether any service has run on the data, so that it has a key
 * @throws OtherSecretKey where it isn't `secretKey`; undefined is none
 */
export async function requireSecretKey(q: Queryable, secretKey: string | undefined): Promise<boolean> {
  const [row] = await q.query<{ hash: string }>('SELECT hash FROM secret_key_check')
  if (row !== undefined && (secretKey === undefined || row.hash !== hashOf(secretKey)))
    throw new OtherSecretKey(row.hash)
  return row !== undefined
}

/** A key that the operator says is lost isn't the key of the data any more. */
export async function forgetLostKey(q: Queryable, { lostSecretKey }: GivenKey): Promise<void> {
  await q.query('DELETE FROM secret_key_check WHERE hash = $1', [lostSecretKey])
}

/**
 * The first key that comes is that of the data from then on.
 * @throws OtherSecretKey
 */
export async function bindSecretKey(q: Queryable, given: GivenKey): Promise<void> {
  await forgetLostKey(q, given)
  const { secretKey } = given
  await q.query('INSERT INTO secret_key_check (hash) VALUES ($1) ON CONFLICT DO NOTHING', [hashOf(secretKey)])
  await requireSecretKey(q, secretKey)
}

/** The same at a service's start. @throws OtherSecretKey */
export function bindServiceKey(q: Queryable, given: GivenKey, shutdown: Shutdown, log: Log): Promise<void> {
  return checkAtStart(() => bindSecretKey(q, given), shutdown, log)
}

function hashOf(secretKey: string): string {
  return makeKeyedHash(secretKey, 'check of the key itself')('', '')
}
