/** Sessions of accounts whose renewal meets a Postgres that is away. */
import { expect, test, vi } from 'vitest'
import { makeRenewals, sessionOf } from '../../pipeline/publishing/account-session.ts'
import { type Adapter, ProviderError } from '../../pipeline/publishing/adapter.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'

test('renewed credentials are stored however long Postgres is away: those before may be used up', async () => {
  const renewal = new AbortController()
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(renewal.signal)
  const stored = { sealed: Buffer.from('"old"'), version: 1 }
  let refusals = 3
  const query = async (sql: string, params: unknown[]) => {
    if (sql.startsWith('SELECT')) return [{ ...stored }]
    if (!sql.includes('sealed = $3')) return [{ until: new Date() }]
    if (refusals-- > 0) {
      // By then the time of the renewal is over.
      renewal.abort()
      throw new StoreUnavailable('postgres', 'away')
    }
    return [Object.assign(stored, { sealed: params[2], version: 2 })]
  }
  const adapter = { name: 'x', refresh: async () => 'new' } as unknown as Adapter
  const context = {
    pg: { query } as never,
    box: { seal: (text: string) => Buffer.from(text), open: String },
    renewals: makeRenewals(),
    fetching: {} as never,
    sleep: async () => {},
  }
  const account = { id: 1, platform: 'x', handle: '@a', externalId: '1', metadata: {} }
  const session = sessionOf(context, adapter, account, new AbortController().signal)
  const asked = await session(async ({ credentials }) => {
    if (credentials === 'old') throw new ProviderError({ kind: 'reauthenticate', code: 'not_authorized' }, 'over')
    return credentials
  })
  expect([asked, stored.version]).toEqual(['new', 2])
})
