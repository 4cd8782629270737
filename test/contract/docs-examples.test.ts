import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiKey } from '../../postgres/tables/workspaces/api-keys.ts'
import { createTrackingKey } from '../../postgres/tables/workspaces/tracking-keys.ts'
import { createWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { scopes } from '../../schemas/scopes.ts'
import { setUpApi } from '../support/api.ts'
import { compileService } from '../support/compile.ts'
import { differences, examplesOf, makeReader, type Reader, type SvcProgram } from '../support/doc-examples.ts'
import { docPaths, readDoc } from '../support/docs.ts'
import { foldStored } from '../support/figures.ts'
import { setUpIngest } from '../support/ingest.ts'
import { runPublisher, type TestPublisher } from '../support/publisher.ts'
import { setUpFolder } from '../support/test-folder.ts'

/** Examples after which there may be something to ship and fold, and those that need none of it before them. */
const sends = /growth|\$TRACK\/|\/l\/|npx|script|fetch/
const onlySends = /growth|\$TRACK\/|\/l\//
/** As `npm start` serves it, which the pages suppose. */
const root = 'http://localhost:8080'

const { stores, api } = setUpApi({ sharesWorkspace: true })
const ingest = setUpIngest(stores)
let publisher: TestPublisher
let svc: SvcProgram
beforeAll(async () => {
  publisher = runPublisher(stores)
  const {
    databaseUrl: DATABASE_URL,
    clickhouseUrl: CLICKHOUSE_URL,
    redisUrl: REDIS_URL,
    secretKey: SECRET_KEY,
  } = stores
  const environment = { DATABASE_URL, CLICKHOUSE_URL, REDIS_URL, SECRET_KEY }
  svc = { file: await compileService('cli/svc.ts'), environment }
})
afterAll(async () => {
  await publisher?.close()
})

/** A workspace as the first start makes it, for one page alone. */
async function firstWorkspace() {
  return stores.pg.transaction(async (tx) => {
    await tx.query(`UPDATE workspaces SET slug = 'page-' || id WHERE slug = 'my-workspace'`)
    const { workspaceId } = await createWorkspace(tx, { name: 'My workspace', timezone: 'UTC', plan: 'growth' })
    const { apiKey } = (await createApiKey(tx, { workspaceId, name: 'npm start', scopes }))!
    return { workspace_id: workspaceId, tracking_key: await createTrackingKey(tx, workspaceId), api_key: apiKey }
  })
}

/** All pages with examples, so that none is left out. */
const pages = docPaths().filter((path) => examplesOf(readDoc(path)).length > 0)

describe.each(pages)('%s', (path) => {
  const examples = examplesOf(readDoc(path))
  const numbers = new Map<number, number>()
  const folder = setUpFolder()
  let reader: Reader
  let isUnsettled = false
  beforeAll(async () => {
    const dev = { base_url: `${root}/v1`, tracking_url: ingest.url, ...(await firstWorkspace()) }
    reader = await makeReader(
      folder,
      dev,
      {
        [`${root}/api/v1/growth/revenue`]: `${api.url}/api/v1/growth/revenue`,
        [`${root}/api/v1/growth`]: ingest.url,
        [`${root}/v1`]: `${api.url}/v1`,
        [`${root}/mcp`]: `${api.url}/mcp`,
        [`${root}/health`]: `${api.url}/health`,
      },
      svc,
    )
  })
  afterAll(() => reader?.close())

  test.each(examples.map((example) => ({ example, line: example.line })))(
    'the example at line $line does what the page shows',
    async ({ example }) => {
      if (isUnsettled && !onlySends.test(example.code)) {
        await ingest.shipped()
        await foldStored(stores)
        isUnsettled = false
      }
      isUnsettled ||= sends.test(example.code)
      const answers = await reader.follow(example)
      const answer = answers.at(-1)
      if (example.language === 'html') expect(answer?.status).toBe(202)
      // Answers that the page doesn't show are good ones: curl ends with 0 whatever it is answered.
      const others = example.answer === undefined ? answers : answers.slice(0, -1)
      expect(others.filter(({ status = 200 }) => status >= 400)).toEqual([])
      if (example.answer === undefined) return
      expect(answer, 'nothing came back').toBeDefined()
      expect(answer?.status).toBe(example.answer.status)
      expect(differences(example.answer.json, JSON.parse(answer!.text), numbers)).toEqual([])
    },
  )
})

test('pages have examples', () => {
  expect(pages).toEqual(
    expect.arrayContaining(['README.md', 'docs/api.md', 'docs/audit.md', 'docs/company-profile.md']),
  )
})

test('an answer that isn’t the shown one would be found', () => {
  const found = (shown: unknown, actual: unknown) => differences(shown, actual, new Map())
  expect(found({ a: [1, 'x…'], id: 5 }, { a: [1, 'xyz'], id: 9, more: true })).toEqual([])
  expect(found({ a: 1 }, { a: 2 })).toEqual(['$.a is 2 and not 1'])
  expect(found({ a: { b: 'c' } }, { a: {} })).toEqual(['$.a.b is undefined and not "c"'])
  expect(found([1, 2], [1])).toHaveLength(1)
  expect(found({ event_ids: [1, 1] }, { event_ids: [7, 8] })).toHaveLength(1)
  expect(found({ event_ids: [1, 2] }, { event_ids: [7, 7] })).toHaveLength(1)
  expect(found('2026-11-20T09:00:00.000Z', 'now')).toHaveLength(1)
})
