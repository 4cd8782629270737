/**
 * Inbox rows merged into people a second, beside bare Postgres that is given the same rows ready-made. It takes, writes
 * and marks them in the same portions, and decides nothing. Alternating, in this process; Postgres has the server's
 * core.
 */

import { mergeInbox } from '../../pipeline/people/merge.ts'
import type { Postgres } from '../../postgres/client.ts'
import { type IdentityHashes, makeIdentityHashes } from '../../runtime/crypto/identity-hash.ts'
import { makeLog } from '../../runtime/log.ts'
import { inboxRowsPerMerge } from '../../schemas/limits/people-limits.ts'
import type { BenchSettings, ScenarioResult } from '../bench.ts'
import { Installation } from '../installation.ts'
import { median } from '../load/latency.ts'

const rowsEach = 20_000
const rowsShort = 500

interface Pair {
  readonly referenceSeconds: number
  readonly productSeconds: number
}

export async function merge({ cores, isShort, rounds, say }: BenchSettings): Promise<ScenarioResult> {
  const installation = await Installation.start(cores, { services: [] })
  try {
    const { pg, workspaceId, environment } = installation
    const hashes = makeIdentityHashes(environment['SECRET_KEY']!)
    const rows = isShort ? rowsShort : rowsEach
    const log = makeLog('bench', 'silent')
    const pairs: Pair[] = []
    // One more at first, which warms both up.
    for (let round = 0; round <= rounds; round++) {
      const reference = await fill(pg, workspaceId, `bare-${round}`, rows)
      const referenceSeconds = await timed(() => writeBarely(pg, workspaceId, reference, hashes))
      await fill(pg, workspaceId, `merged-${round}`, rows)
      const productSeconds = await timed(async () => {
        while ((await mergeInbox({ pg, hashes, log, now: Date.now() })) > 0);
      })
      pairs.push({ referenceSeconds, productSeconds })
      say(`  bare Postgres ${(rows / referenceSeconds).toFixed(0)}/s, merged ${(rows / productSeconds).toFixed(0)}/s`)
    }
    const measured = pairs.slice(1)
    const [stored] = await pg.query<{ facts: number }>('SELECT count(*) AS facts FROM identity_facts')
    const sent = rows * pairs.length
    return {
      figures: [
        {
          measure: 'inbox rows merged a second ÷ bare Postgres writing the same rows',
          value: median(measured.map(({ referenceSeconds, productSeconds }) => referenceSeconds / productSeconds)),
          unit: 'ratio',
          firstStage: 0.4,
          goal: 0.7,
        },
        {
          measure: 'inbox rows merged',
          value: median(measured.map(({ productSeconds }) => rows / productSeconds)),
          unit: 'events/s',
        },
      ],
      counts: { sent, acknowledged: sent, stored: stored!.facts - sent, repeated: 0 },
      remarks: ['Two in three identify events make a contact with a browser; the third names a second browser of it.'],
      settings: { rows, portion: inboxRowsPerMerge },
      rounds: pairs,
    }
  } finally {
    await installation.stop()
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}

interface Identify {
  readonly eventId: number
  readonly email: string
  readonly anonymousId: string
  readonly at: number
}

/** Every third row is of the contact before it, on another browser. @returns what was written, in order */
function fill(pg: Postgres, workspaceId: number, prefix: string, count: number): Promise<Identify[]> {
  return pg.query<Identify>(
    `INSERT INTO inbox (event_id, workspace_id, event_type, event_name, email, anonymous_id, full_name, properties,
       source, medium, campaign, content, occurred_at, received_at)
     SELECT coalesce((SELECT max(event_id) FROM inbox), 0) + n, $1::int, 'identify', 'identify',
       $2 || '-' || n - (n % 3 = 2)::int || '@example.com', $2 || '-browser-' || n, 'Person ' || n, '{"company": "Acme"}',
       '', '', '', '', now() - interval '1 hour' + n * interval '1 millisecond', now()
     FROM generate_series(1, $3::int) AS n
     RETURNING event_id AS "eventId", email, anonymous_id AS "anonymousId", (extract(epoch FROM occurred_at) * 1000)::bigint AS at`,
    [workspaceId, prefix, count],
  )
}

/** The rows of each table as the merge leaves them, without finding out which. */
async function writeBarely(
  pg: Postgres,
  workspaceId: number,
  rows: readonly Identify[],
  hashes: IdentityHashes,
): Promise<void> {
  for (let from = 0; from < rows.length; from += inboxRowsPerMerge) {
    const portion = rows.slice(from, from + inboxRowsPerMerge)
    const emails = [...new Set(portion.map(({ email }) => email))]
    await pg.transaction(async (tx) => {
      await tx.query('SELECT * FROM inbox WHERE NOT is_merged ORDER BY event_id LIMIT $1 FOR UPDATE', [portion.length])
      const contacts = await tx.query<{ id: number; email: string }>(
        `INSERT INTO contacts (workspace_id, email, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at,
           full_name, full_name_at, company, company_at)
         SELECT $1::int, email, hash, $4::bigint, $4, $4, $4, 'Person', $4, 'Acme', $4 FROM unnest($2::text[], $3::numeric[]) AS row (email, hash)
         ON CONFLICT (workspace_id, email) DO UPDATE SET last_seen_at = excluded.last_seen_at RETURNING id, email`,
        [workspaceId, emails, emails.map((email) => hashes.emailHashOf(workspaceId, email)), portion[0]!.at],
      )
      const idOf = new Map(contacts.map(({ id, email }) => [email, id]))
      const ids = portion.map(({ email }) => idOf.get(email)!)
      const browsers = portion.map(({ anonymousId }) => anonymousId)
      const visitors = browsers.map((browser) => hashes.visitorOf(workspaceId, browser))
      await tx.query(
        `INSERT INTO identity_facts (workspace_id, anonymous_id, contact_id, at, event_id)
         SELECT $1::int, * FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[])`,
        [workspaceId, browsers, ids, portion.map(({ at }) => at), portion.map(({ eventId }) => eventId)],
      )
      await tx.query(
        `INSERT INTO bindings (workspace_id, anonymous_id, visitor, contact_id, from_at, from_id)
         SELECT $1::int, *, 0, 0 FROM unnest($2::text[], $3::numeric[], $4::bigint[])`,
        [workspaceId, browsers, visitors, ids],
      )
      await tx.query(
        `INSERT INTO people_work (workspace_id, contact_id, visitor)
         SELECT $1::int, contact, NULL FROM unnest($2::bigint[]) AS contact
         UNION ALL SELECT $1::int, NULL, visitor FROM unnest($3::numeric[]) AS visitor
         UNION ALL SELECT $1::int, contact, NULL FROM unnest($4::bigint[]) AS contact`,
        [workspaceId, contacts.map(({ id }) => id), visitors, ids],
      )
      await tx.query('UPDATE inbox SET is_merged = true WHERE event_id = ANY ($1::bigint[])', [
        portion.map(({ eventId }) => eventId),
      ])
    })
  }
}
