/** Whose company profile is generated when: in turn, several at a time, one of a workspace. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makePipelineMetrics } from '../../pipeline/pipeline-metrics.ts'
import { startProfiler } from '../../pipeline/profile/loop.ts'
import { claimProfile, orderProfile, readCompanyProfile } from '../../postgres/tables/company-profiles.ts'
import { systemClock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { makeMetrics } from '../../runtime/metrics.ts'
import { makeGuardedAgent } from '../../runtime/outbound/guarded-agent.ts'
import { makeWorkspace } from '../support/api.ts'
import { type CompanySites, startCompanySites } from '../support/company-sites.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
let sites: CompanySites
beforeAll(async () => {
  sites = await startCompanySites()
})
afterAll(() => sites.close())

async function makeTwo(): Promise<[number, number]> {
  await stores.pg.query('DELETE FROM company_profiles')
  return [(await makeWorkspace(stores)).workspaceId, (await makeWorkspace(stores)).workspaceId]
}

test('who asked first comes first; asking again goes to the back', async () => {
  const [one, other] = await makeTwo()
  for (const id of [one, other, one]) await orderProfile(stores.pg, id, [])
  expect(await claimProfile(stores.pg)).toMatchObject({ workspaceId: other })
  expect(await claimProfile(stores.pg)).toMatchObject({ workspaceId: one })
  expect(await claimProfile(stores.pg)).toBe(undefined)
  // What is under way goes on to have the workspace.
  await orderProfile(stores.pg, one)
  expect(await claimProfile(stores.pg)).toBe(undefined)
})

test('one whose sources hang holds up no other', async () => {
  const [one, other] = await makeTwo()
  await orderProfile(stores.pg, one, [`${sites.url}/hang`])
  await orderProfile(stores.pg, other, [`${sites.url}/shop`])
  const agent = makeGuardedAgent({ allowPrivate: true, connectMs: 5_000 })
  const profiler = startProfiler(
    { pg: stores.pg, ch: stores.ch, clock: systemClock, apiHost: '', fetching: { agent, allowPrivate: true } },
    { log: makeLog('test', 'silent'), metrics: makePipelineMetrics(makeMetrics('test', false)) },
  )
  const statusOf = async (id: number) => (await readCompanyProfile(stores.pg, id, '')).status
  try {
    await expect.poll(() => statusOf(other), { timeout: 4_000 }).toBe('ready')
    expect(await statusOf(one)).toBe('generating')
  } finally {
    await profiler.close()
    await agent.close()
  }
})
