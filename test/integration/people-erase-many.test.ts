/** Erasures that are hard: of somebody whose browser changed hands a thousand times, and behind one that fails. */
import { expect, test } from 'vitest'
import { eraseNext } from '../../pipeline/people/erase.ts'
import { orderErasure } from '../../pipeline/people/order-erasure.ts'
import { type Log, makeLog } from '../../runtime/log.ts'
import { makeWorkspace, setUpApi, type TestWorkspace } from '../support/api.ts'
import { foldAll, workOn } from '../support/fold.ts'
import { setUpIngest } from '../support/ingest.ts'
import { bindInTurn, settlePeople, track } from '../support/people.ts'

const { stores } = setUpApi({ sharesWorkspace: true })
const ingest = setUpIngest(stores)
const minute = 60_000
const begin = Math.floor(Date.now() / minute) * minute - 3 * 60 * minute

const view = (anonymous_id: string, at: number) => ({
  ...{ event_name: 'pageview', anonymous_id, session_id: 's', url: 'https://example.com/' },
  occurred_at: new Date(begin + at).toISOString(),
})

async function order({ workspaceId }: TestWorkspace, named: { id: number } | { anonymousId: string }): Promise<void> {
  const { pg, ch, hashes } = stores
  const options = { ch, hashes, log: makeLog('test', 'silent'), now: Date.now() }
  await pg.transaction((tx) => orderErasure(tx, workspaceId, named, options))
}

/** One is done once everything that was answered before it is folded. */
async function erase(log?: Log): Promise<void> {
  do await foldAll(stores)
  while (!(await eraseNext(workOn(stores), Date.now(), log)))
}

/** Milliseconds from the begin. */
async function timesLeft({ workspaceId }: TestWorkspace): Promise<number[]> {
  const rows = await stores.ch.query<{ at: number }>(
    'SELECT toUnixTimestamp64Milli(occurred_at) AS at FROM events WHERE workspace_id = {workspace:UInt32} ORDER BY at',
    { workspace: workspaceId },
  )
  return rows.map(({ at }) => at - begin)
}

test('a person with a thousand times of a shared browser is erased, and nobody else', async () => {
  const workspace = await makeWorkspace(stores)
  const visitor = stores.hashes.visitorOf(workspace.workspaceId, 'shared')
  const { ann } = await bindInTurn(stores.pg, workspace, { visitor, turns: 3_000, from: begin, everyMs: 1_000 })
  // Ann's times begin at even seconds, Ben's at odd ones.
  await track(ingest, workspace, [
    ...[-1_000, 500, 1_500, 2_000, 2_999, 3_000, 2_998_000, 2_999_000, 3_500_000].map((at) => view('shared', at)),
    view('other', 500),
  ])
  await settlePeople(stores, ingest)
  await order(workspace, { id: ann })
  await erase()
  expect(await timesLeft(workspace)).toEqual([500, 1_500, 3_000, 2_999_000, 3_500_000])
})

test('an erasure that fails gives way to the next one, and says so', async () => {
  const workspace = await makeWorkspace(stores)
  await track(ingest, workspace, [view('a', 1_000), view('b', 2_000)])
  await settlePeople(stores, ingest)
  const browsers = [{ visitor: 'no number', fromAt: 0, fromId: 0, toAt: null, toId: null }]
  const [failing] = await stores.pg.query<{ id: number }>(
    'INSERT INTO erasures (workspace_id, browsers) VALUES ($1, $2) RETURNING id',
    [workspace.workspaceId, JSON.stringify(browsers)],
  )
  await order(workspace, { anonymousId: 'a' })
  const lines: unknown[] = []
  const log = { ...makeLog('test', 'silent'), warn: (fields: object) => lines.push(fields) }
  await expect(erase(log as never)).rejects.toThrow()
  expect(lines).toEqual([{ err: expect.any(Error), erasure: failing!.id }])
  await erase()
  expect(await timesLeft(workspace)).toEqual([2_000])
})
