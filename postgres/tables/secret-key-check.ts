/**
 * Holds the data and SECRET_KEY together. With another key every visitor would be new, and no stored secret could be read:
 * so a restore without its key has to fail, and not begin anew in silence. Held by test/integration/start.test.ts, api-process.test.ts and doctor.test.ts.
 */
import { SettingError } from '../../runtime/config.ts'
import { makeKeyedHash } from '../../runtime/crypto/keyed-hash.ts'
import type { Log } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import type { Shutdown } from '../../runtime/shutdown.ts'
import type { Queryable } from '../client.ts'

export class OtherSecretKey extends SettingError {
  constructor() {
    super(
      "SECRET_KEY (or else DATA_DIR/secret.key) isn't the key that the data in Postgres was made with: set that one; docs/operations.md#a-lost-secret_key says what to do without it",
    )
  }
}

const retryMs = 5_000

/** Whether the data is that of `secretKey`; undefined while it is no key's yet. */
export async function isSecretKeyOfData(q: Queryable, secretKey: string): Promise<boolean | undefined> {
  const hash = await readHash(q)
  return hash === undefined ? undefined : hash === hashOf(secretKey)
}

/** Whether any service has run on the data. */
export async function hasDataSecretKey(q: Queryable): Promise<boolean> {
  return (await readHash(q)) !== undefined
}

/**
 * The first key that comes is that of the data from then on.
 * @throws OtherSecretKey
 */
export async function bindSecretKey(q: Queryable, secretKey: string): Promise<void> {
  await q.query('INSERT INTO secret_key_check (hash) VALUES ($1) ON CONFLICT DO NOTHING', [hashOf(secretKey)])
  if (!(await isSecretKeyOfData(q, secretKey))) throw new OtherSecretKey()
}

/**
 * The same at a service's start. While Postgres is away it is asked later, and another key stops the service then.
 * @throws OtherSecretKey
 */
export async function bindServiceKey(q: Queryable, secretKey: string, shutdown: Shutdown, log: Log): Promise<void> {
  try {
    await bindSecretKey(q, secretKey)
  } catch (error) {
    if (error instanceof OtherSecretKey) throw error
    void sleep(retryMs)
      .then(() => bindServiceKey(q, secretKey, shutdown, log))
      .catch((other: Error) => {
        log.error(other.message)
        return shutdown.stop(other.message, 1)
      })
  }
}

async function readHash(q: Queryable): Promise<string | undefined> {
  const [row] = await q.query<{ hash: string }>('SELECT hash FROM secret_key_check')
  return row?.hash
}

function hashOf(secretKey: string): string {
  return makeKeyedHash(secretKey, 'check of the key itself')('', '')
}
