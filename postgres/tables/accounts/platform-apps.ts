/** The installation's apps at platforms: named by the command, used when members sign in there. */
import type { AppPlatform } from '../../../schemas/reference/sign-in-platforms.ts'
import type { Queryable } from '../../client.ts'

export interface StoredApp {
  readonly platform: AppPlatform
  readonly client_id: string
  /** Those to ask for; empty: what posts need. */
  readonly scopes: readonly string[]
}

/** There is one for each platform at most. Their secrets are not among it. */
export function listPlatformApps(q: Queryable): Promise<StoredApp[]> {
  return q.query<StoredApp>('SELECT platform, client_id, scopes FROM platform_apps ORDER BY platform')
}

export async function readPlatformApp(
  q: Queryable,
  platform: AppPlatform,
): Promise<(StoredApp & { readonly sealed: Buffer }) | null> {
  const [app] = await q.query<StoredApp & { readonly sealed: Buffer }>(
    'SELECT platform, client_id, scopes, sealed FROM platform_apps WHERE platform = $1',
    [platform],
  )
  return app ?? null
}

/** In place of the one that there was. @param sealed the app's secret, encrypted */
export async function putPlatformApp(q: Queryable, { platform, client_id, scopes }: StoredApp, sealed: Buffer) {
  await q.query(
    `INSERT INTO platform_apps (platform, client_id, scopes, sealed) VALUES ($1, $2, $3, $4)
     ON CONFLICT (platform) DO UPDATE SET client_id = $2, scopes = $3, sealed = $4, updated_at = now()`,
    [platform, client_id, scopes, sealed],
  )
}

/** @returns false where there is none */
export async function removePlatformApp(q: Queryable, platform: AppPlatform): Promise<boolean> {
  return (await q.query('DELETE FROM platform_apps WHERE platform = $1 RETURNING 1', [platform])).length > 0
}
