/** All places of both stores that may hold rows of a workspace, and rows to put into them. */
import { insertBotVisitRows, insertEventRows, makeBotVisitRow, makeEventRow } from './event-rows.ts'
import { closeDaysAt, foldWhatIsThere } from './fold.ts'
import type { TestStores } from './stores.ts'

/** Which migrations were applied, in both stores. */
export const ofMigrations = 'schema_migrations'

const dayMs = 86_400_000

export function workspacePlaces(stores: TestStores) {
  const now = Date.now()
  const inPostgres = (where = 'true') =>
    stores.pg
      .query<{ name: string }>(
        `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
           AND ${where} ORDER BY 1`,
      )
      .then((rows) => rows.map(({ name }) => name))
  const inClickHouse = async () =>
    (
      await stores.ch.query<{ name: string }>(
        'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
      )
    ).map(({ name }) => name)

  /** Tables with rows of a workspace. */
  async function placesWith(workspaceId: number): Promise<string[]> {
    const hasColumn = `EXISTS (SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'workspace_id' AND NOT attisdropped)`
    const found: string[] = []
    for (const name of await inPostgres(hasColumn)) {
      const rows = await stores.pg.query(`SELECT FROM ${name} WHERE workspace_id = $1 LIMIT 1`, [workspaceId])
      if (rows.length > 0) found.push(`postgres ${name}`)
    }
    for (const name of (await inClickHouse()).filter((one) => one !== ofMigrations)) {
      const [row] = await stores.ch.query<{ rows: number }>(
        `SELECT count() AS rows FROM ${name} WHERE workspace_id = ${workspaceId}`,
      )
      if (row!.rows > 0) found.push(`clickhouse ${name}`)
    }
    return found
  }

  /**
   * Rows in each place that doesn't refer to the workspace's own row.
   * @param at when the newest of them came, milliseconds since 1970, as `botsAt`
   */
  async function fill(workspaceId: number, at = now, botsAt = at): Promise<void> {
    const { pg, ch } = stores
    const moment = `to_timestamp(${at / 1000})`
    const own = { workspace_id: workspaceId, email_hash: workspaceId }
    await insertEventRows(ch, [
      makeEventRow({ ...own, kind: 'conversion', occurred_at: at - 2 * dayMs }),
      makeEventRow({ ...own, occurred_at: at }),
    ])
    await insertBotVisitRows(ch, [makeBotVisitRow({ workspace_id: workspaceId, occurred_at: botsAt })])
    await ch.command(
      `INSERT INTO link_clicks (workspace_id, occurred_at) VALUES (${workspaceId}, fromUnixTimestamp64Milli(${at}))`,
    )
    await ch.command(
      `INSERT INTO replay_chunks (workspace_id, occurred_at) VALUES (${workspaceId}, fromUnixTimestamp64Milli(${at}))`,
    )
    await ch.command(
      `INSERT INTO search_days (workspace_id, site, day) VALUES (${workspaceId}, 1, ${Math.floor(at / dayMs)})`,
    )
    await ch.command(`INSERT INTO import_turns (workspace_id, turn) VALUES (${workspaceId}, 1)`)
    await foldWhatIsThere(stores)
    await closeDaysAt(stores, now)
    await pg.query(
      `WITH made AS (
         INSERT INTO contacts (workspace_id, email, email_hash, first_identified_at, last_identified_at, first_seen_at, last_seen_at)
         VALUES (${workspaceId}, 'a@example.com', ${workspaceId}, ${at}, ${at}, ${at}, ${at}) RETURNING id),
       fact AS (INSERT INTO identity_facts SELECT ${workspaceId}, 'b', ${at}, ${workspaceId}, id FROM made),
       bound AS (INSERT INTO bindings SELECT ${workspaceId}, 'b', 1, 0, 0, id FROM made),
       seen AS (INSERT INTO contact_sightings (workspace_id, email_hash, first_seen, last_seen) VALUES (${workspaceId}, '\\x00', ${moment}, ${moment})),
       erasure AS (INSERT INTO erasures (workspace_id, browsers) VALUES (${workspaceId}, '[]')),
       work AS (INSERT INTO people_work (workspace_id, hour) VALUES (${workspaceId}, 1))
       INSERT INTO inbox (event_id, workspace_id, event_type, event_name, email, anonymous_id, full_name, properties, source,
         medium, campaign, content, occurred_at, received_at)
       VALUES (${workspaceId}, ${workspaceId}, 'identify', 'identify', 'a@example.com', 'b', '', '{}', '', '', '', '', ${moment}, ${moment})`,
    )
  }

  /** A credit of a conversion at that time. */
  function creditByPerson(workspaceId: number, at: number) {
    return stores.pg.query(
      `INSERT INTO person_credits (event_id, workspace_id, hour, visitor, contact_id, source, medium, touched_at, touched_by)
       SELECT workspace_id, workspace_id, $2::bigint / 3600000, 0, id, 'news', 'email', $2, 0 FROM contacts WHERE workspace_id = $1`,
      [workspaceId, at],
    )
  }

  /** The workspace's own acts, and webhook events, with their times. */
  async function fillWork(workspaceId: number, at: number): Promise<void> {
    const moment = `to_timestamp(${at / 1000})`
    await stores.pg.query(
      `WITH endpoint AS (
         INSERT INTO webhook_endpoints (workspace_id, url, events, secret) VALUES (${workspaceId}, 'https://example.com/', '{}', '') RETURNING id),
       told AS (
         INSERT INTO outbox (workspace_id, event_id, type, object, fanned_out_at, created_at)
         VALUES (${workspaceId}, 'evt_${workspaceId}', 'contact.created', '{}', ${moment}, ${moment})),
       delivered AS (
         INSERT INTO webhook_deliveries (workspace_id, webhook_endpoint_id, event_id, event_type, status, created_at)
         SELECT ${workspaceId}, id, 'evt_${workspaceId}', 'contact.created', 'delivered', ${moment} FROM endpoint)
       INSERT INTO idempotency_records (workspace_id, key, fingerprint, status, body, expires_at)
       VALUES (${workspaceId}, 'k', '', 200, '', ${moment} + interval '72 hours')`,
    )
    await stores.pg.query(`UPDATE erasures SET done_at = ${moment} WHERE workspace_id = ${workspaceId}`)
  }

  /**
   * The customer's objects and connections, accounts of money, and who may sign in. The owner is that of the workspace.
   */
  async function fillMade(workspaceId: number): Promise<void> {
    const [made] = await stores.pg.query<{ account: number; post: number; media: number }>(
      `WITH account AS (
         INSERT INTO social_accounts (workspace_id, platform, handle, display_name) VALUES ($1, 'x', 'h', 'd') RETURNING id),
       post AS (
         INSERT INTO posts (workspace_id, title, base_caption, status, scheduled_at)
         VALUES ($1, 't', 'c', 'scheduled', now() + interval '1 hour') RETURNING id),
       file AS (
         INSERT INTO media (workspace_id, filename, original_filename, content_type, size_bytes, sha256)
         VALUES ($1, 'f', 'f', 'image/png', 1, sha256('x')) RETURNING id)
       SELECT account.id AS account, post.id AS post, file.id AS media FROM account, post, file`,
      [workspaceId],
    )
    const { account, post, media } = made!
    const statements = [
      `INSERT INTO social_account_credentials (social_account_id, sealed) VALUES (${account}, 'x')`,
      `INSERT INTO post_media VALUES (${post}, 1, ${media})`,
      `INSERT INTO post_targets (post_id, place, social_account_id, status) VALUES (${post}, 1, ${account}, 'scheduled')`,
      `INSERT INTO post_engagement (target_id, social_account_id, published_at) SELECT id, ${account}, now() FROM post_targets WHERE post_id = ${post}`,
      `INSERT INTO company_profiles (workspace_id, status) VALUES ($1, 'generating')`,
      `INSERT INTO company_profile_media VALUES ($1, ${media}, 'logo')`,
      `INSERT INTO revenue_connections (workspace_id, provider, secret) VALUES ($1, 'custom', 'x')`,
      `WITH paid AS (
         INSERT INTO revenue_payments (workspace_id, provider, payment, refs, occurred_at, import_day)
         VALUES ($1, 'custom', 'p', '{}', now(), now()) RETURNING id)
       INSERT INTO revenue_entries (workspace_id, payment_id, entry, value_cents, currency, occurred_at)
       SELECT $1, id, 'payment', 1, 'EUR', now() FROM paid`,
      `INSERT INTO revenue_payers VALUES ($1, 'custom', 'p', 'email', 'a@example.com', now())`,
      `INSERT INTO revenue_rates VALUES ($1, 'EUR', 'USD', now(), 1)`,
      `INSERT INTO ad_spend VALUES ($1, now(), 's', 'c', 'EUR', 1, 1, now())`,
      `WITH made AS (
         INSERT INTO feeds (workspace_id, url, social_account_ids, mode, template, shortens_links, posts_newest, set_up_by, next_look_at)
         VALUES ($1, 'u', '{}', 'draft', '{title}', false, false, 1, now()) RETURNING id),
       post AS (UPDATE posts SET feed_id = made.id FROM made WHERE posts.id = ${post})
       INSERT INTO feed_entries SELECT id, '', now() FROM made`,
      `INSERT INTO posting_times VALUES ($1, 1, 540)`,
      `INSERT INTO exclusions VALUES ($1, '{192.0.2.1}', '{}', '{}', '{}')`,
      `INSERT INTO search_sites (workspace_id, site, account, sealed, next_pull_at)
       VALUES ($1, 'sc-domain:example.com', 'a@example.com', '', now())`,
      `INSERT INTO short_domains (workspace_id, host, token) VALUES ($1, 'go.example.com', 't')`,
      `INSERT INTO goals (workspace_id, name, kind, value) VALUES ($1, 'n', 'path', '/')`,
      `INSERT INTO notes (workspace_id, day, text) VALUES ($1, now(), 't')`,
      `INSERT INTO segments (workspace_id, name, filters) VALUES ($1, 'n', '{}')`,
      `INSERT INTO saved_funnels (workspace_id, name, steps, within) VALUES ($1, 'n', '{}', '7')`,
      `INSERT INTO snippets (workspace_id, name, text) VALUES ($1, 'n', 't')`,
      `INSERT INTO told_clicks VALUES ($1, now(), now())`,
      `INSERT INTO traffic_alerts VALUES ($1, 'spike', 1, now())`,
      `INSERT INTO invitation_mails VALUES ($1, NULL, '\\x00', now())`,
      `INSERT INTO report_recipients (workspace_id, email, every) VALUES ($1, 'a@example.com', 'weekly')`,
      `WITH channel AS (
         INSERT INTO chat_channels (workspace_id, kind, name, address, host, ending) VALUES ($1, 'slack', 'n', 'x', 'h', 'e') RETURNING id)
       INSERT INTO report_recipients (workspace_id, channel_id, every) SELECT $1, id, 'weekly' FROM channel`,
      `INSERT INTO invitations (workspace_id, hash, email, role, invited_by, created_at, expires_at)
         SELECT id, sha256('$1'), 'a@example.com', 'viewer', owner_id, now(), now() + interval '1 hour' FROM workspaces WHERE id = $1`,
      ...['sign_in_links', 'browser_sessions'].map(
        (table) => `INSERT INTO ${table} (hash, owner_id, workspace_id, expires_at)
           SELECT sha256(convert_to('${table}' || $1, 'UTF8')), owner_id, id, now() + interval '1 hour' FROM workspaces WHERE id = $1`,
      ),
      `INSERT INTO account_sign_ins (workspace_id, session_id, sealed, expires_at)
         SELECT workspace_id, id, '', expires_at FROM browser_sessions WHERE workspace_id = $1`,
    ]
    for (const sql of statements) await stores.pg.query(sql.replaceAll('$1', String(workspaceId)))
  }

  /** Rows that a fold, or the people after it, would take away. There is a contact. */
  async function fillWaiting(workspaceId: number): Promise<void> {
    await stores.pg.query(
      `INSERT INTO untold_merges (workspace_id, anonymous_id, visitor, contact_id)
       SELECT workspace_id, 'b', 1, id FROM contacts WHERE workspace_id = $1`,
      [workspaceId],
    )
    for (const table of ['people_work', 'event_repairs']) {
      await stores.pg.query(`INSERT INTO ${table} (workspace_id, hour) VALUES ($1, 1)`, [workspaceId])
    }
  }

  return { fillWaiting, placesWith, fill, fillWork, fillMade, creditByPerson, inPostgres, inClickHouse }
}
