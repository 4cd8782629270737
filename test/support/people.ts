/** People in a test: events sent to ingest as sites send them, and brought up to date as the pipeline's loop does. */
import { mergeInbox } from '../../pipeline/people/merge.ts'
import { refreshPeople } from '../../pipeline/people/refresh.ts'
import type { FactLimits } from '../../postgres/tables/people/bindings.ts'
import { makeLog } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import type { Journey, Person } from '../../schemas/resources/person.ts'
import type { TestApi, TestWorkspace } from './api.ts'
import { foldStored } from './figures.ts'
import { workOn } from './fold.ts'
import type { TestIngest } from './ingest.ts'
import type { TestStores } from './stores.ts'

/** An event of the tracking interface, without the key. */
export type SentEvent = Readonly<Record<string, unknown>>

const triesMax = 30

/** Sends events, at most a thousand at once. @returns their ids */
export async function track(
  ingest: TestIngest,
  { trackingKey }: Pick<TestWorkspace, 'trackingKey'>,
  events: readonly SentEvent[],
): Promise<number[]> {
  const send = () => ingest.post('/track/batch', { tracking_key: trackingKey, events })
  let sent = await send()
  // Where the machine stands still, a new key can't be looked up in time.
  for (let tries = 0; sent.status === 503 && tries < triesMax; tries++) {
    await sleep(1_000)
    sent = await send()
  }
  const { status, body } = sent
  if (status !== 202 || body.rejected!.length > 0) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body.event_ids!
}

/** Merges the inbox and refreshes figures until nothing waits, as the pipeline's loops do between two folds. */
export async function mergeAndRefreshPeople(
  { pg, ch, hashes }: Pick<TestStores, 'pg' | 'ch' | 'hashes'>,
  limits?: FactLimits,
): Promise<void> {
  const log = makeLog('test', 'silent')
  while ((await mergeInbox({ pg, hashes, log, now: Date.now(), ...(limits && { limits }) })) > 0);
  while (!(await refreshPeople(workOn({ pg, ch }), Date.now())));
}

/** Folds what is shipped, and brings people up to date. */
export async function settlePeople(stores: TestStores, ingest: Pick<TestIngest, 'shipped'>): Promise<void> {
  await ingest.shipped()
  await foldStored(stores)
  await mergeAndRefreshPeople(stores)
}

export function askPeople(api: TestApi, { apiKey }: Pick<TestWorkspace, 'apiKey'>) {
  const ask = async <Answer>(path: string, query: Record<string, string>) => {
    const response = await api.ask(`${path}?${new URLSearchParams(query)}`, { key: apiKey })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${response.status} ${text}`)
    return JSON.parse(text) as Answer
  }
  return {
    people: (query: Record<string, string> = {}) => ask<Person[]>('/v1/people', query),
    journey: (query: Record<string, string>) => ask<Journey>('/v1/people/journey', query),
  }
}

/**
 * Binds the browser `shared` alternately to Ann and Ben, with Ann first: more binding periods than a merge would
 * leave.
 * @returns Ann's id
 */
export async function bindAlternately(
  pg: TestStores['pg'],
  { workspaceId }: Pick<TestWorkspace, 'workspaceId'>,
  { visitor, periods, from, everyMs }: { visitor: string; periods: number; from: number; everyMs: number },
): Promise<{ ann: number }> {
  const [ann, ben] = await pg.query<{ id: number }>(
    `INSERT INTO contacts (workspace_id, email, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at)
     SELECT $1, name || '@example.com', length(name), $2, $2, $2, $2 FROM unnest('{ann,benny}'::text[]) AS name RETURNING id`,
    [workspaceId, from],
  )
  await pg.query(
    `INSERT INTO bindings (workspace_id, anonymous_id, visitor, contact_id, from_at, from_id)
     SELECT $1, 'shared', $2, CASE period % 2 WHEN 0 THEN $3::bigint ELSE $4 END, CASE period WHEN 0 THEN 0 ELSE $5::bigint + period * $6 END, 0
     FROM generate_series(0, $7::int - 1) AS period`,
    [workspaceId, visitor, ann!.id, ben!.id, from, everyMs, periods],
  )
  return { ann: ann!.id }
}
