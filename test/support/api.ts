/** The API in the test's own process, on real stores, with keys to ask it by. */
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { makeSessionOperations } from '../../api/dashboard/operations/registry.ts'
import { makeGateway } from '../../api/gateway.ts'
import { makeRateLimiter, makeSignInLimiter, type RateLimiter } from '../../api/guards/rate-limit.ts'
import type { MediaLimits } from '../../api/media/receive.ts'
import type { Operation } from '../../api/operations/define.ts'
import { operations as registered } from '../../api/operations/registry.ts'
import { createApiKey } from '../../postgres/tables/workspaces/api-keys.ts'
import { type Clock, systemClock } from '../../runtime/clock.ts'
import { makeKeyedHash } from '../../runtime/crypto/keyed-hash.ts'
import { makeMediaLinks } from '../../runtime/crypto/media-link.ts'
import {
  accountCredentialsPurpose,
  accountMailPurpose,
  makeSecretBox,
  platformAppsPurpose,
  revenueSecretsPurpose,
  secondFactorPurpose,
} from '../../runtime/crypto/secret-box.ts'
import { makeTrustedProxies } from '../../runtime/http/trusted-proxy.ts'
import { makeLog } from '../../runtime/log.ts'
import { makeMetrics } from '../../runtime/metrics.ts'
import type { ReadTxt } from '../../runtime/outbound/txt-records.ts'
import { scopes as allScopes } from '../../schemas/scopes.ts'
import { type StoreOptions, setUpStores, type TestStores } from './stores.ts'
import { makeWorkspace, type TestWorkspace } from './workspace.ts'

export { makeWorkspace, type TestWorkspace } from './workspace.ts'

export interface TestApi {
  readonly port: number
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  /** Asks for a path; `key` becomes the Authorization header. Redirects aren't followed. */
  ask(path: string, init?: RequestInit & { key?: string | undefined }): Promise<Response>
  close(): Promise<void>
}

export interface TestApiOptions extends StoreOptions {
  readonly operations?: readonly Operation[]
  readonly pg?: TestStores['pg']
  readonly ch?: TestStores['ch']
  readonly clock?: Clock
  readonly rateLimiter?: RateLimiter
  readonly mediaLimits?: MediaLimits
  readonly mediaBytesMax?: number
  readonly allowPrivateTargets?: boolean
  /** Else no name has TXT records. */
  readonly readTxt?: ReadTxt
  readonly apiHost?: string
  readonly isMailSetUp?: boolean
  /** For tests whose stores hang; else long, as machines are slow at times. */
  readonly answerDeadlineMs?: number
  /** One workspace for all tests of a file, each of which takes it as the others leave it. */
  readonly sharesWorkspace?: boolean
}

const byPlan = (limit: number) => ({ starter: limit, growth: limit, scale: limit })
const noLimit = byPlan(1e9)
export const testApiHost = 'https://api.example.com'

export async function startApi(
  stores: Pick<TestStores, 'pg' | 'ch' | 'box' | 'media' | 'hashes'> & Partial<Pick<TestStores, 'secretKey'>>,
  options: TestApiOptions = {},
): Promise<TestApi> {
  const server = makeGateway({
    operations: options.operations ?? registered,
    pg: options.pg ?? stores.pg,
    ch: options.ch ?? stores.ch,
    clock: options.clock ?? systemClock,
    log: makeLog('test', 'silent'),
    metrics: makeMetrics('test', false),
    rateLimiter: options.rateLimiter ?? makeRateLimiter({ redis: undefined, limits: noLimit, clock: systemClock }),
    signInLimiter: makeSignInLimiter(undefined),
    box: stores.box,
    hashes: stores.hashes,
    revenueBox: makeSecretBox(stores.secretKey ?? '', revenueSecretsPurpose),
    mailBox: makeSecretBox(stores.secretKey ?? '', accountMailPurpose),
    accountBox: makeSecretBox(stores.secretKey ?? '', accountCredentialsPurpose),
    appBox: makeSecretBox(stores.secretKey ?? '', platformAppsPurpose),
    factorBox: makeSecretBox(stores.secretKey ?? '', secondFactorPurpose),
    browserHash: makeKeyedHash(stores.secretKey ?? '', 'browsers that signed in before'),
    answerDeadlineMs: options.answerDeadlineMs ?? 120_000,
    idempotencyKeptMs: 72 * 3_600_000,
    hashAddress: makeKeyedHash('a secret of tests, of 32 letters', 'tests'),
    hashRequest: makeKeyedHash('a secret of tests, of 32 letters', 'requests of tests'),
    proxies: makeTrustedProxies(['127.0.0.1']),
    media: stores.media,
    mediaLinks: makeMediaLinks(stores.secretKey ?? ''),
    mediaLimits: options.mediaLimits ?? { imageBytesMax: 25 * 2 ** 20, videoBytesMax: 512 * 2 ** 20 },
    mediaBytesMax: byPlan(options.mediaBytesMax ?? 1e12),
    apiHost: () => options.apiHost ?? testApiHost,
    readTxt: options.readTxt ?? (async () => []),
    allowPrivateTargets: options.allowPrivateTargets ?? false,
    isMailSetUp: options.isMailSetUp ?? false,
  })
  const port = await server.listen('127.0.0.1', 0)
  const url = `http://127.0.0.1:${port}`
  return {
    port,
    url,
    ask(path, { key, headers, ...init } = {}) {
      const authorization = key === undefined ? {} : { Authorization: `Bearer ${key}` }
      return fetch(url + path, { redirect: 'manual', ...init, headers: { ...authorization, ...headers } })
    },
    close: () => server.close(0),
  }
}

/**
 * For the tests of a file the API on stores of its own, and for each test a workspace of its own. All of it is filled in
 * before a test begins, so nothing can be taken out of it at the top of a file.
 */
export function setUpApi(options: TestApiOptions = {}): {
  readonly stores: TestStores
  readonly api: TestApi
  readonly mine: TestWorkspace
} {
  const stores = setUpStores(options)
  const api = {} as TestApi
  const mine = {} as TestWorkspace
  beforeAll(async () => {
    Object.assign(api, await startApi(stores, options))
  })
  const before = options.sharesWorkspace ? beforeAll : beforeEach
  before(async () => {
    Object.assign(mine, await makeWorkspace(stores))
  })
  afterAll(() => api.close?.())
  return { stores, api, mine }
}

/** As the dashboard has them, to go over all. */
export function operationsOfSessions(stores: Pick<TestStores, 'pg' | 'ch' | 'box'>): readonly Operation[] {
  return makeSessionOperations(stores, stores.box, {
    accountBox: stores.box,
    appBox: stores.box,
    signInLimiter: makeSignInLimiter(undefined),
  })
}

/** Another key of the workspace. */
export async function makeKey(
  { pg }: Pick<TestStores, 'pg'>,
  workspaceId: number,
  options: { scopes?: readonly string[]; expiresAt?: Date; ownerId?: number } = {},
): Promise<{ id: number; apiKey: string; prefix: string }> {
  return (await createApiKey(pg, { scopes: allScopes, ...options, workspaceId, name: 'test' }))!
}
