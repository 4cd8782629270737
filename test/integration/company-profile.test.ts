/** The company profile: from source URLs to what is known, with a quote for each claim; hostile sites; turns; media; webhooks. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { connectClickHouse } from '../../clickhouse/client.ts'
import { makePipelineMetrics } from '../../pipeline/pipeline-metrics.ts'
import { startProfiler } from '../../pipeline/profile/loop.ts'
import { listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import {
  claimProfile,
  orderProfile,
  putProfileMedia,
  readCompanyProfile,
} from '../../postgres/tables/workspaces/company-profiles.ts'
import { setPlan } from '../../postgres/tables/workspaces/workspaces.ts'
import { systemClock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { makeMetrics } from '../../runtime/metrics.ts'
import { makeGuardedAgent } from '../../runtime/outbound/guarded-agent.ts'
import { profileAttemptsMax, profileMediaMax } from '../../schemas/limits/profile-limits.ts'
import type { CompanyProfile } from '../../schemas/resources/company-profile.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import { makeWorkspace, setUpApi } from '../support/api.ts'
import { type CompanySites, startCompanySites } from '../support/company-sites.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { generateNext } from '../support/generate-profile.ts'
import { makeAccount, makeLink, makeMedia, makePost } from '../support/publishing.ts'
import { countWaiting } from '../support/waiting-for-locks.ts'

const { stores, api, mine } = setUpApi({ allowPrivateTargets: true })
let sites: CompanySites
beforeAll(async () => {
  sites = await startCompanySites()
})
afterAll(() => sites.close())

async function ask(method: string, path: string, body?: object, key = mine.apiKey) {
  const headers = { 'Content-Type': 'application/json' }
  const response = await api.ask(`/v1/company-profile${path}`, {
    method,
    key,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as CompanyProfile & { detail: unknown } }
}

/** The context that generating needs, until the test is over. */
function contextOf({ allowPrivate = true, ch = stores.ch as Pick<typeof stores.ch, 'query'> } = {}) {
  const agent = makeGuardedAgent({ allowPrivate, connectMs: 5_000 })
  onTestFinished(() => agent.close())
  const log = makeLog('test', 'silent')
  return { pg: stores.pg, ch, clock: systemClock, log, apiHost: 'http://api.test', fetching: { agent, allowPrivate } }
}
const { signal } = new AbortController()

async function generate(allowPrivate = true): Promise<CompanyProfile> {
  const context = contextOf({ allowPrivate })
  while (await generateNext(context, signal));
  return (await ask('GET', '')).body
}

async function profileOf(...pages: string[]): Promise<CompanyProfile> {
  const source_urls = pages.map((page) => `${sites.url}/${page}`)
  const ordered = await ask('PATCH', '/sources', { source_urls })
  expect([ordered.status, ordered.body.status, ordered.body.source_urls]).toEqual([200, 'generating', source_urls])
  return generate()
}

/** Every claim quotes what the page that it names says, colours in six digits. */
async function expectQuoted({ evidence }: CompanyProfile): Promise<void> {
  expect(evidence.length).toBeGreaterThan(5)
  for (const { quote, source_url } of evidence) {
    expect([quote !== '', source_url.startsWith(sites.url)]).toEqual([true, true])
    const said = (await (await fetch(source_url)).text()).toLowerCase().replaceAll('&amp;', '&')
    const inSixDigits = said.replace(/#(\w)(\w)(\w)\b/g, '#$1$1$2$2$3$3')
    expect(inSixDigits).toContain(quote.toLowerCase())
  }
}

test('a workspace without one has an empty profile', async () => {
  const { status, body } = await ask('GET', '')
  expect(status).toBe(200)
  expect(body).toMatchObject({ workspace_id: mine.workspaceId, status: 'empty', version: 0, confidence: 0, images: [] })
  expect(body).toMatchObject({ summary: '', evidence: [], generated_at: null, error: null, context_text: '' })
})

describe('pages of', () => {
  test('a shop', async () => {
    const profile = await profileOf('shop')
    const headline = 'House plants that arrive alive'
    const tagline = 'Plants by post, alive when they arrive.'
    expect(profile).toMatchObject({
      status: 'ready',
      version: 1,
      error: null,
      summary: 'A nursery that sends house plants by post.',
      positioning: headline,
      value_props: ['Free replacement for 30 days', 'Packed without plastic'],
      feature_set: ['Boston fern', 'Snake plant'],
      tone: { label: 'lively' },
      messaging: { headline, tagline, calls_to_action: ['Shop plants', 'Add to basket'] },
      visual_identity: { fonts: ['Work Sans'], logo_url: 'https://fern.example/logo.png' },
      social_posture: { platforms: ['instagram'] },
    })
    expect(profile.visual_identity.colors).toContain('#2f6b3c')
    expect(profile.confidence).toBeGreaterThan(0.7)
    expect(profile.context_text).toContain('Features: Boston fern; Snake plant')
    await expectQuoted(profile)
  })

  test('a service, and of one in Japanese', async () => {
    const service = await profileOf('saas')
    expect(service).toMatchObject({
      summary: 'Ledgerly does the books of a restaurant.',
      audience: 'small restaurants',
      positioning: 'The books do themselves',
      feature_set: ['Receipts by photo', 'Payroll in one click', 'VAT returns'],
      value_props: ['Close the month in an hour'],
      messaging: { calls_to_action: ['Start free trial'] },
    })
    await expectQuoted(service)
    const japanese = await profileOf('japanese')
    expect(japanese).toMatchObject({
      summary: '個人事業主向けの会計ソフトです。',
      audience: '個人事業主',
      positioning: '確定申告を、もっとかんたんに',
      feature_set: ['レシートを撮るだけで記帳', '銀行口座と連携'],
      messaging: { calls_to_action: ['無料ではじめる'] },
      tone: { label: 'polite' },
      version: 2,
    })
    await expectQuoted(japanese)
  })

  test('a diary, and of a page that is a script alone: nothing is invented', async () => {
    const diary = await profileOf('blog')
    expect(diary).toMatchObject({
      audience: '',
      positioning: '',
      value_props: [],
      feature_set: [],
      tone: { label: '' },
    })
    expect(diary.summary).toMatch(/^Today I walked/)
    expect(diary.confidence).toBeLessThan(0.3)
    const scripted = await profileOf('scripted')
    expect(scripted).toMatchObject({ status: 'ready', summary: '', evidence: [], confidence: 0, context_text: '' })
  })

  test('a hostile site: bounded, and no address of a script is kept', async () => {
    const startedAt = performance.now()
    const profile = await profileOf('bomb', 'large', 'loop', 'hang', 'far', 'file', 'picture', 'secret', 'gone')
    // Without a bound, the one that hangs would be waited for as long as its connection stays.
    expect(performance.now() - startedAt).toBeLessThan(120_000)
    expect(profile.status).toBe('ready')
    expect(profile.error?.split('\n').map((line) => line.slice(sites.url.length))).toEqual([
      '/large: The page is larger than 2 MB',
      '/loop: The page redirects more than 3 times',
      '/hang: The host did not answer in time',
      '/far: The page redirects to a URL of more than 2048 characters',
      '/file: The page redirects to no web page',
      '/picture: The page is no HTML',
      '/secret: robots.txt of the host forbids it',
      '/gone: The page answered with status 404',
    ])
    expect(sites.asked).not.toContain('/secret')
    expect([profile.messaging.headline, profile.value_props]).toEqual(['Deep', []])
    expect(JSON.stringify(profile)).not.toContain('javascript:')
    expect(JSON.stringify(profile).length).toBeLessThan(20_000)
    expect(profile.confidence).toBeLessThan(0.1)
  })
})

test('looks come from linked style sheets of the site as well, within bounds, and say from which', async () => {
  const { visual_identity, evidence, error, status } = await profileOf('styled')
  expect([status, error]).toEqual(['ready', null])
  expect(visual_identity).toMatchObject({ colors: ['#123456', '#aabbcc'], fonts: ['Fira Sans'] })
  const sourcesOf = (field: string) => evidence.filter((one) => one.field === field).map(({ source_url }) => source_url)
  expect(sourcesOf('visual_identity.colors')).toEqual([`${sites.url}/looks.css`, `${sites.url}/more.css`])
  expect(sourcesOf('visual_identity.fonts')).toEqual([`${sites.url}/looks.css`])
  for (const path of ['/print.css', '/other.css', '/secret.css']) expect(sites.asked).not.toContain(path)
})

test('a tone without traits is quoted as well', async () => {
  const { tone, evidence } = await profileOf('plain')
  expect(tone).toEqual({ label: 'factual', traits: [] })
  const quotes = evidence.filter(({ field }) => field === 'tone').map(({ quote }) => quote)
  expect(quotes).toEqual([expect.stringMatching(/^The mill by the river .* later\.$/)])
})

test('the summary of social posts names the networks that show them, not those of other accounts', async () => {
  const shown = await makeAccount(stores, mine.workspaceId, 'mastodon')
  await makeAccount(stores, mine.workspaceId, 'x')
  const post = await makePost(stores, mine.workspaceId)
  await stores.pg.query(
    `WITH target AS (INSERT INTO post_targets (post_id, place, social_account_id, status) VALUES ($1, 1, $2, 'published'))
     UPDATE posts SET status = 'published' WHERE id = $1`,
    [post, shown],
  )
  const { social_posture } = await profileOf('scripted')
  expect(social_posture).toMatchObject({
    platforms: ['mastodon', 'x'],
    summary: '1 post published in 90 days, on mastodon.',
  })
})

test('links and visits are quoted, but no visits from before the time that the plan lets read', async () => {
  const { workspaceId } = mine
  for (let links = 0; links < 3; links++) await makeLink(stores, workspaceId, null)
  await stores.pg.query(
    "UPDATE links SET label = 'archived', archived_at = now() WHERE id = (SELECT max(id) FROM links WHERE workspace_id = $1)",
    [workspaceId],
  )
  const instantOf = (days: number) => new Date(Date.now() - days * dayMs).toISOString()
  const visit = (days: number, path: string, source: string) =>
    makeEventRow({ workspace_id: workspaceId, occurred_at: instantOf(days), kind: 'pageview', path, source })
  await insertEventRows(stores.ch, [visit(1, '/new', 'google'), visit(40, '/old', 'bing'), visit(100, '/older', 'x')])
  const quotes = ({ evidence }: CompanyProfile) =>
    evidence.filter(({ field }) => field === 'context_text').map(({ quote, source_url }) => [source_url, quote])
  const readable = await profileOf('scripted')
  const overview = '/v1/analytics/overview'
  const visits = (...all: string[]) => all.map((quote) => [overview, quote])
  expect(quotes(readable)).toEqual([['/v1/links', 'a'], ...visits('/new', '/old', 'bing', 'google')])
  await setPlan(stores.pg, workspaceId, 'starter')
  const clamped = await profileOf('scripted')
  expect(quotes(clamped)).toEqual([['/v1/links', 'a'], ...visits('/new', 'google')])
  expect(clamped.context_text).not.toContain('/old')
})

test('without ClickHouse it is generated all the same, without its visits', async () => {
  const away = connectClickHouse('http://127.0.0.1:1/none')
  onTestFinished(() => away.close())
  await ask('PATCH', '/sources', { source_urls: [`${sites.url}/shop`] })
  await generateNext(contextOf({ ch: away }), signal)
  expect((await ask('GET', '')).body).toMatchObject({ status: 'ready', error: null, version: 1 })
})

test('private addresses are never asked: neither directly nor by a redirect', async () => {
  const guarded = await makeWorkspace(stores)
  for (const url of ['file:///etc/passwd', 'https://u:p@example.com/', 'ftp://example.com/', 'no']) {
    const { status, body } = await ask('PATCH', '/sources', { source_urls: [url] }, guarded.apiKey)
    expect([url, status, body]).toMatchObject([url, 422, { detail: [{ loc: ['body', 'source_urls', 0] }] }])
  }
  const count = sites.asked.length
  await ask('PATCH', '/sources', { source_urls: [`${sites.url}/shop`] })
  const refused = await generate(false)
  expect(refused).toMatchObject({ status: 'failed', error: `${sites.url}/shop: The host has no public address` })
  expect(refused.generated_at).toBe(null)
  expect(sites.asked).toHaveLength(count)
})

test('what was known stays with its time when all sources fail, and a refresh asks the same sources again', async () => {
  const { audience, generated_at } = await profileOf('saas')
  const failed = await profileOf('gone')
  expect(failed).toMatchObject({ status: 'failed', audience, generated_at, version: 2 })
  const refreshed = await ask('POST', '/refresh')
  expect(refreshed.body).toMatchObject({ status: 'generating', source_urls: [`${sites.url}/gone`] })
  expect(await generate()).toMatchObject({ status: 'failed', version: 3 })
})

test('what is asked for while one is generated wins', async () => {
  await ask('PATCH', '/sources', { source_urls: [`${sites.url}/saas`] })
  let orders = 0
  const ch = {
    query: async (...args: Parameters<typeof stores.ch.query>) => {
      if (orders++ === 0) {
        await ask('PATCH', '/sources', { source_urls: [`${sites.url}/shop`] })
        // One of a workspace at a time.
        expect(await claimProfile(stores.pg)).toBe(undefined)
      }
      return stores.ch.query(...args)
    },
  } as Pick<typeof stores.ch, 'query'>
  const context = contextOf({ ch })
  await generateNext(context, signal)
  expect((await ask('GET', '')).body).toMatchObject({ status: 'generating', version: 0 })
  await generateNext(context, signal)
  const ready = { status: 'ready', version: 1, positioning: 'House plants that arrive alive' }
  expect((await ask('GET', '')).body).toMatchObject(ready)
})

async function makeTwo(): Promise<[number, number]> {
  await stores.pg.query('DELETE FROM company_profiles')
  return [mine.workspaceId, (await makeWorkspace(stores)).workspaceId]
}

test('who asked first comes first; asking again goes to the back', async () => {
  const [one, other] = await makeTwo()
  for (const id of [one, other, one]) await orderProfile(stores.pg, id, [])
  expect(await claimProfile(stores.pg)).toMatchObject({ workspaceId: other })
  expect(await claimProfile(stores.pg)).toMatchObject({ workspaceId: one })
  expect(await claimProfile(stores.pg)).toBe(undefined)
  // The one under way still holds the workspace.
  await orderProfile(stores.pg, one)
  expect(await claimProfile(stores.pg)).toBe(undefined)
})

test('one whose sources hang holds up no other', async () => {
  const [one, other] = await makeTwo()
  await orderProfile(stores.pg, one, [`${sites.url}/hang`])
  await orderProfile(stores.pg, other, [`${sites.url}/shop`])
  const profiler = startProfiler(contextOf(), makePipelineMetrics(makeMetrics('test', false)))
  const statusOf = async (id: number) => (await readCompanyProfile(stores.pg, id, '')).status
  try {
    await expect.poll(() => statusOf(other)).toBe('ready')
    expect(await statusOf(one)).toBe('generating')
  } finally {
    await profiler.close()
  }
})

test('one whose every attempt ended with its process has failed, and is not generated again', async () => {
  const [one] = await makeTwo()
  await orderProfile(stores.pg, one, [`${sites.url}/shop`])
  await stores.pg.query('UPDATE company_profiles SET attempts = $1', [profileAttemptsMax])
  const count = sites.asked.length
  expect(await generateNext(contextOf(), signal)).toBe(true)
  expect((await readCompanyProfile(stores.pg, one, '')).status).toBe('failed')
  expect(sites.asked).toHaveLength(count)
})

const logoRow = (quote: string, source_url: string) => ({ field: 'visual_identity.logo_url', quote, source_url })

test('of two that give the last role at once one is refused', async () => {
  const made = await Promise.all(Array.from({ length: profileMediaMax + 1 }, () => makeMedia(stores, mine.workspaceId)))
  const [last, another, ...others] = made as [number, number, ...number[]]
  await stores.pg.query(
    `INSERT INTO company_profile_media SELECT $1, id, 'product_image' FROM unnest($2::bigint[]) AS given (id)`,
    [mine.workspaceId, others],
  )
  let asked: ReturnType<typeof ask> | undefined
  await stores.pg.transaction(async (tx) => {
    expect(await putProfileMedia(tx, mine.workspaceId, { mediaId: last, role: 'logo' })).toBe(true)
    let isAnswered = false
    asked = ask('POST', '/media', { media_id: another, role: 'logo' }).finally(() => {
      isAnswered = true
    })
    await expect.poll(async () => isAnswered || (await countWaiting(stores.pg)) > 0).toBe(true)
  })
  expect((await asked!).status).toBe(422)
  expect((await ask('GET', '')).body.images).toHaveLength(profileMediaMax)
})

test('media have roles that fit them, and webhooks are told', async () => {
  const image = await makeMedia(stores, mine.workspaceId)
  const strange = await makeMedia(stores, (await makeWorkspace(stores)).workspaceId)
  expect((await ask('POST', '/media', { media_id: image, role: 'demo_video' })).status).toBe(422)
  expect((await ask('POST', '/media', { media_id: strange, role: 'logo' })).status).toBe(422)
  const { body } = await ask('POST', '/media', { media_id: image, role: 'logo' })
  expect(body.images).toEqual([
    { media_id: image, role: 'logo', url: expect.stringMatching(`/v1/media/${image}/file$`) },
  ])
  expect(body.visual_identity.logo_url).toBe(body.images[0]!.url)
  expect(body.evidence).toEqual([logoRow(body.images[0]!.url, '/v1/company-profile')])
  expect((await ask('DELETE', `/media/${image}`)).body).toMatchObject({ images: [], evidence: [] })
  expect((await ask('DELETE', `/media/${image}`)).status).toBe(404)
  const logosOf = ({ evidence }: CompanyProfile) => evidence.filter(({ field }) => field === 'visual_identity.logo_url')
  expect(logosOf(await profileOf('shop'))).toEqual([logoRow('https://fern.example/logo.png', `${sites.url}/shop`)])
  const told = await stores.pg.query<{ object: { status: string; version: number } }>(
    `SELECT object FROM outbox WHERE workspace_id = $1 AND type = 'company_profile.updated' ORDER BY id`,
    [mine.workspaceId],
  )
  expect(told.map(({ object: { status, version } }) => [status, version])).toEqual([
    ['empty', 0],
    ['empty', 0],
    ['ready', 1],
  ])
  const rows = await listAuditEvents(stores.pg, mine.workspaceId, { action: 'company_profile.generate', limit: 10 })
  expect(rows.map(({ actor_name, metadata }) => [actor_name, metadata])).toEqual([
    ['pipeline', { status: 'ready', version: 1 }],
  ])
  const again = await ask('POST', '/media', { media_id: image, role: 'logo' })
  expect(logosOf(again.body)).toEqual([logoRow(body.images[0]!.url, '/v1/company-profile')])
})
