/** Tracked links. A key under a domain is one link's for good; where it leads may change, which `ingest` reads by `updated_at`. */
import { isDeepStrictEqual } from 'node:util'
import { type LinkParameters, trackingParamsOf, trackingUrlOf } from '../../../schemas/event/tracking-url.ts'
import { makeAttributionKey } from '../../../schemas/keys.ts'
import { attributionKeyTriesMax, linksListedBytesMax, linksReadEach } from '../../../schemas/limits/api-limits.ts'
import type { TrackedLinkTarget } from '../../../schemas/resources/link.ts'
import type { LinkPreview } from '../../../schemas/resources/link-preview.ts'
import type { Queryable } from '../../client.ts'
import type { Page } from '../../page.ts'

export interface TrackedLink {
  readonly id: number
  readonly attribution_key: string
  /** Host of the short domain that it stands under; null: it stands under the installation's root. */
  readonly domain: string | null
  readonly label: string
  readonly destination_url: string
  readonly tracking_url: string
  readonly tracking_params: Record<string, string>
  readonly post_id: number | null
  readonly social_account_id: number | null
  readonly utm_source: string
  readonly utm_medium: string
  readonly utm_campaign: string
  readonly utm_content: string
  readonly expires_at: Date | null
  /** Null: from `expires_at` on the link leads nowhere. */
  readonly expired_url: string | null
  /** Instead of the destination, for visitors of a device, of countries or of a share. */
  readonly targets: readonly TrackedLinkTarget[]
  readonly tags: readonly string[]
  /** Its hash is read by redirects alone. */
  readonly has_password: boolean
  /** Null: apps preview the destination. */
  readonly preview: LinkPreview | null
  readonly created_at: Date
  readonly updated_at: Date
}

export interface NewLink extends Omit<LinkParameters, 'linkId'> {
  readonly workspaceId: number
  /** Null, or left out: the installation's root. */
  readonly domainId?: number | null
  readonly label: string
  readonly destinationUrl: string
  readonly socialAccountId: number | null
  readonly expiresAt?: Date | null
  readonly expiredUrl?: string | null
  readonly targets?: readonly TrackedLinkTarget[]
  readonly tags?: readonly string[]
  readonly passwordHash?: string | null
  readonly preview?: LinkPreview | null
}

const columns = `id, attribution_key, (SELECT host FROM short_domains d WHERE d.id = links.domain_id) AS domain, label, destination_url, tracking_url, tracking_params, post_id, social_account_id,
  utm_source, utm_medium, utm_campaign, utm_content, expires_at, expired_url, targets, tags,
  password_hash IS NOT NULL AS has_password, preview, created_at, updated_at`

/** Inserts a link whose key nobody chose. @param makeKey another each time: one that is taken isn't used */
export async function insertLink(tx: Queryable, made: NewLink, makeKey = makeAttributionKey): Promise<TrackedLink> {
  for (let tries = 0; tries < attributionKeyTriesMax; tries++) {
    const link = await insertLinkWithKey(tx, made, makeKey())
    if (link !== null) return link
  }
  throw new Error(`${attributionKeyTriesMax} attribution keys in a row were taken`)
}

/** @returns null where another link of the domain has the key */
export async function insertLinkWithKey(tx: Queryable, made: NewLink, key: string): Promise<TrackedLink | null> {
  // The URL holds the id, and is stored with it.
  const [next] = await tx.query<{ id: number }>("SELECT nextval(pg_get_serial_sequence('links', 'id')) AS id")
  const { id } = next!
  const params = trackingParamsOf({ ...made, linkId: id })
  const [link] = await tx.query<TrackedLink>(
    `INSERT INTO links (id, workspace_id, attribution_key, label, destination_url, tracking_url, tracking_params, post_id,
         social_account_id, utm_source, utm_medium, utm_campaign, utm_content, expires_at, expired_url, targets, tags,
         password_hash, preview, domain_id)
       OVERRIDING SYSTEM VALUE
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
       ON CONFLICT (attribution_key, domain_id) DO NOTHING RETURNING ${columns}`,
    [
      id,
      made.workspaceId,
      key,
      made.label,
      made.destinationUrl,
      trackingUrlOf(made.destinationUrl, params),
      JSON.stringify(params),
      made.postId,
      made.socialAccountId,
      made.utmSource,
      made.utmMedium,
      made.utmCampaign,
      made.utmContent,
      made.expiresAt ?? null,
      made.expiredUrl ?? null,
      JSON.stringify(made.targets ?? []),
      made.tags ?? [],
      made.passwordHash ?? null,
      jsonOrNull(made.preview),
      made.domainId ?? null,
    ],
  )
  return link ?? null
}

export interface LinkPage extends Page {
  readonly isArchived: boolean
  /** Only links with this tag. */
  readonly tag?: string | undefined
  /** Only links under this short domain. */
  readonly domain?: string | undefined
  /** Only links that have this text in their label, key or destination, whatever its case. */
  readonly text?: string | undefined
}

/** Newest first; fewer than `limit` where what they lead to comes to more than `bytesMax`. */
export function listLinks(
  q: Queryable,
  workspaceId: number,
  { limit, beforeId, isArchived, tag, domain, text }: LinkPage,
  bytesMax = linksListedBytesMax,
): Promise<TrackedLink[]> {
  return readWithin<TrackedLink>(limit, bytesMax, (rowsMax, last) =>
    q.query(
      `SELECT ${columns} FROM links WHERE workspace_id = $1 AND ($3::bigint IS NULL OR id < $3)
         AND (archived_at IS NOT NULL) = $4 AND ($5::text IS NULL OR $5 = ANY (tags))
         AND ($7::text IS NULL OR domain_id = (SELECT id FROM short_domains WHERE workspace_id = $1 AND host = $7))
         AND ($6::text IS NULL OR strpos(lower(concat_ws(chr(10), label, attribution_key, destination_url)), lower($6)) > 0)
       ORDER BY id DESC LIMIT $2`,
      [workspaceId, rowsMax, last?.id ?? beforeId ?? null, isArchived, tag ?? null, text ?? null, domain ?? null],
    ),
  )
}

/** A link that is read with the hash of its password. */
interface HashedLink {
  readonly password_hash?: string | null
}

/**
 * Reads up to `limit` links, and as many as what they lead to comes to `bytesMax`, in pages of which none is long.
 * @param readAfter the next `rowsMax` of them after `last`, or the first ones
 */
export async function readWithin<
  Row extends Pick<TrackedLink, 'tracking_url' | 'expired_url' | 'targets' | 'preview'> & HashedLink,
>(
  limit: number,
  bytesMax: number,
  readAfter: (rowsMax: number, last: Row | undefined) => Promise<Row[]>,
): Promise<Row[]> {
  const all: Row[] = []
  let bytes = 0
  for (;;) {
    const rowsMax = Math.min(limit - all.length, linksReadEach)
    const rows = await readAfter(rowsMax, all.at(-1))
    for (const row of rows) {
      bytes += row.tracking_url.length + (row.expired_url?.length ?? 0) + (row.password_hash?.length ?? 0)
      if (row.targets.length > 0) bytes += JSON.stringify(row.targets).length
      if (row.preview !== null) bytes += JSON.stringify(row.preview).length
      if (bytes > bytesMax) return all
      all.push(row)
    }
    if (rows.length < rowsMax || all.length >= limit) return all
  }
}

export function findLink(q: Queryable, workspaceId: number, id: number): Promise<TrackedLink | null> {
  return readLink(q, workspaceId, id)
}

/** The same, locked until the end of the transaction. */
export function lockLink(tx: Queryable, workspaceId: number, id: number): Promise<TrackedLink | null> {
  return readLink(tx, workspaceId, id, 'FOR NO KEY UPDATE')
}

async function readLink(q: Queryable, workspaceId: number, id: number, lock = ''): Promise<TrackedLink | null> {
  const [link] = await q.query<TrackedLink>(
    `SELECT ${columns} FROM links WHERE workspace_id = $1 AND id = $2 ${lock}`,
    [workspaceId, id],
  )
  return link ?? null
}

/** The part of a link that may change, its password apart. */
export type LinkFields = Pick<
  TrackedLink,
  | 'label'
  | 'destination_url'
  | 'utm_source'
  | 'utm_medium'
  | 'utm_campaign'
  | 'utm_content'
  | 'expires_at'
  | 'expired_url'
  | 'targets'
  | 'tags'
  | 'preview'
>

/**
 * @param before the link, which the transaction has locked; with equal fields it stays as it is
 * @param passwordHash undefined: the password stays; null: the link has none from now on
 */
export async function updateLink(
  tx: Queryable,
  before: TrackedLink,
  fields: LinkFields,
  passwordHash?: string | null,
): Promise<TrackedLink> {
  const link = { ...before, ...fields }
  const staysOpen = passwordHash === null && !before.has_password
  if (isDeepStrictEqual(link, before) && (passwordHash === undefined || staysOpen)) return before
  const params = trackingParamsOf({
    linkId: link.id,
    postId: link.post_id,
    utmSource: link.utm_source,
    utmMedium: link.utm_medium,
    utmCampaign: link.utm_campaign,
    utmContent: link.utm_content,
  })
  const [changed] = await tx.query<TrackedLink>(
    `UPDATE links SET label = $2, destination_url = $3, tracking_url = $4, tracking_params = $5, utm_source = $6,
       utm_medium = $7, utm_campaign = $8, utm_content = $9, expires_at = $10, expired_url = $11, targets = $12,
       tags = $13, password_hash = CASE WHEN $14 THEN $15 ELSE password_hash END, preview = $16,
       updated_at = now()
     WHERE id = $1 RETURNING ${columns}`,
    [
      link.id,
      link.label,
      link.destination_url,
      trackingUrlOf(link.destination_url, params),
      JSON.stringify(params),
      link.utm_source,
      link.utm_medium,
      link.utm_campaign,
      link.utm_content,
      link.expires_at,
      link.expired_url,
      JSON.stringify(link.targets),
      link.tags,
      passwordHash !== undefined,
      passwordHash ?? null,
      jsonOrNull(link.preview),
    ],
  )
  return changed!
}

function jsonOrNull(preview: LinkPreview | null | undefined): string | null {
  return preview == null ? null : JSON.stringify(preview)
}

/** @returns the link; null where the workspace has none of this id. The moment of its first archiving stays. */
export async function markLinkArchived(
  tx: Queryable,
  workspaceId: number,
  id: number,
  isArchived: boolean,
): Promise<TrackedLink | null> {
  const [link] = await tx.query<TrackedLink>(
    `UPDATE links SET archived_at = CASE WHEN $3 THEN coalesce(archived_at, now()) END,
       updated_at = CASE WHEN (archived_at IS NOT NULL) = $3 THEN updated_at ELSE now() END
     WHERE workspace_id = $1 AND id = $2 RETURNING ${columns}`,
    [workspaceId, id, isArchived],
  )
  return link ?? null
}

/** The workspace's links among these ids. */
export function linksAmong(
  q: Queryable,
  workspaceId: number,
  ids: readonly number[],
): Promise<Pick<TrackedLink, 'id' | 'post_id'>[]> {
  return q.query('SELECT id, post_id FROM links WHERE workspace_id = $1 AND id = ANY($2::bigint[])', [workspaceId, ids])
}

/** Which of the two the workspace has; what isn't named isn't missed. */
export async function hasLinkTargets(
  q: Queryable,
  workspaceId: number,
  { postId, socialAccountId }: Pick<NewLink, 'postId' | 'socialAccountId'>,
): Promise<{ post: boolean; account: boolean }> {
  const [row] = await q.query<{ post: boolean; account: boolean }>(
    `SELECT $2::bigint IS NULL OR EXISTS (SELECT FROM posts WHERE workspace_id = $1 AND id = $2 FOR KEY SHARE) AS post,
       $3::bigint IS NULL OR EXISTS (SELECT FROM social_accounts WHERE workspace_id = $1 AND id = $3 FOR KEY SHARE) AS account`,
    [workspaceId, postId, socialAccountId],
  )
  return row!
}
