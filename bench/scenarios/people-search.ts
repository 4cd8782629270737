/** The list of people and its search, at a million contacts and five million visitors, from one API process. */

import { makeMissingBuilds, readCurrentBuild } from '../../postgres/tables/figures/figure-builds.ts'
import { createApiKey } from '../../postgres/tables/workspaces/api-keys.ts'
import { scopes } from '../../schemas/scopes.ts'
import { ask } from '../asking.ts'
import type { BenchSettings, ScenarioResult } from '../bench.ts'
import { Installation } from '../installation.ts'
import type { Question } from '../load/load-plan.ts'

const contacts = 1_000_000
const contactsShort = 2_000
const visitorsPerContact = 5
/** Over which all were seen last, within what the plan reads. */
const spreadSeconds = 170 * 86_400
/** Contacts of one statement: a slow machine writes them well within its deadline. */
const portion = 20_000
const requests = 200
const names = ['Ada', 'Grace', 'Linus', 'Margaret', 'Alan', 'Barbara', 'Donald', 'Edsger', 'Frances', 'Ken']

export async function peopleSearch(settings: BenchSettings): Promise<ScenarioResult> {
  const { cores, isShort, say } = settings
  const installation = await Installation.start(cores, { services: [], side: 'both' })
  try {
    const count = isShort ? contactsShort : contacts
    await installation.onBothCores(() => fill(installation, count))
    await installation.untilQuiet()
    await installation.startService('api')
    const apiKey = await installation.pg.transaction(async (tx) => {
      const { workspaceId } = installation
      return (await createApiKey(tx, { workspaceId, name: 'bench', scopes }))!.apiKey
    })
    const asked = async (questions: readonly Question[]) => {
      const plan = { questions, connections: 1, requests: isShort ? questions.length : requests }
      await ask(installation, { ...plan, requests: 20 }, settings)
      return (await ask(installation, plan, settings)).latency
    }
    const list = await asked([{ path: '/v1/people?limit=100', apiKey }])
    // Each is of another text: rare ones, and such that a thousandth of all contacts have.
    const searches = Array.from({ length: requests }, (_, nth) => {
      const q = nth % 2 === 0 ? `company ${nth}x` : `${names[nth % names.length]} number${nth}`
      return { path: `/v1/people?q=${encodeURIComponent(q)}`, apiKey }
    })
    const search = await asked(searches)
    say(`  list p95 ${list.p95} ms, search p95 ${search.p95} ms`)
    return {
      figures: [
        {
          measure: `GET /v1/people, ${count} contacts, ${count * visitorsPerContact} visitors, p95`,
          value: list.p95,
          unit: 'ms',
          goal: 40,
          latency: list,
        },
        { measure: 'GET /v1/people?q=…, p95', value: search.p95, unit: 'ms', goal: 50, latency: search },
      ],
      remarks: [
        'People are asked for on both cores, one question at a time, 100 rows. The visitors have rows of `visitors` and `sessions`, and no events to read their names from.',
      ],
      settings: { contacts: count, visitors: count * visitorsPerContact, requests },
      rounds: [{ list, search }],
    }
  } finally {
    await installation.stop()
  }
}

async function fill({ pg, ch, workspaceId }: Installation, count: number): Promise<void> {
  for (let from = 0; from < count; from += portion) {
    await pg.query(
      `INSERT INTO contacts (workspace_id, email, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at,
         full_name, company, source, medium, campaign, last_touch_at)
       SELECT $1::int, lower(($4::text[])[n % $5::int + 1]) || n || '@example.com', n, seen, seen, seen, seen,
         ($4::text[])[n % $5::int + 1] || ' Number' || n % 1009, 'Company ' || n % 1013 || 'x', 'newsletter', 'email', '', seen
       FROM generate_series($2::int, $3::int) AS n,
         LATERAL (SELECT (extract(epoch FROM now()) * 1000)::bigint - n * 15 % ${spreadSeconds} * 1000::bigint AS seen) AS moment`,
      [workspaceId, from + 1, Math.min(from + portion, count), names, names.length],
    )
  }
  await pg.query('ANALYZE contacts')
  await makeMissingBuilds(pg, [workspaceId])
  const { build } = (await readCurrentBuild(pg, workspaceId))!
  const params = { workspace: workspaceId, build, visitors: count * visitorsPerContact }
  const rows = `SELECT {workspace:UInt32}, {build:UInt32}, cityHash64(number), toUInt16(intDiv(toUnixTimestamp(seen), 86400)), 1, seen`
  const moments = `FROM (SELECT number, now() - number * 3 % ${spreadSeconds} AS seen FROM numbers({visitors:UInt64}))`
  const columns = 'workspace_id, build, visitor, day, version, first_at'
  await ch.command(
    `INSERT INTO sessions (${columns}, session, nth_day, source, medium, campaign)
     ${rows}, number, 1, ['', 'google', 'news', 'ads'][1 + number % 4], 'web', ['', 'spring', 'sale'][1 + number % 3] ${moments}`,
    params,
    { deadlineMs: 600_000 },
  )
  await ch.command(`INSERT INTO visitors (${columns}, hours, sessions, events) ${rows}, 1, 1, 1 ${moments}`, params, {
    deadlineMs: 600_000,
  })
}
