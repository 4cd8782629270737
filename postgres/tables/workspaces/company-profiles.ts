/** Company profiles: what was asked for, what was generated, and the media that belong to them. */
import { profileAttemptsMax, profileClaimMs, profileMediaMax } from '../../../schemas/limits/profile-limits.ts'
import {
  type CompanyProfile,
  emptyProfile,
  type GeneratedProfile,
  type MediaRole,
} from '../../../schemas/resources/company-profile.ts'
import type { Queryable } from '../../client.ts'
import { intervalOf } from '../../clock.ts'
import { takeNamedLock } from '../../named-lock.ts'

interface Row {
  readonly source_urls: string[]
  readonly status: 'generating' | 'ready' | 'failed'
  readonly generated: GeneratedProfile | null
  readonly error: string | null
  readonly generated_at: Date | null
  readonly version: number
}

/** As the API and webhooks show it. @param apiHost where media are found */
export async function readCompanyProfile(q: Queryable, workspaceId: number, apiHost: string): Promise<CompanyProfile> {
  const [row] = await q.query<Row>(
    'SELECT source_urls, status, generated, error, generated_at, version FROM company_profiles WHERE workspace_id = $1',
    [workspaceId],
  )
  const media = await q.query<{ media_id: number; role: MediaRole; content_type: string }>(
    `SELECT p.media_id, p.role, m.content_type FROM company_profile_media p JOIN media m ON m.id = p.media_id
     WHERE p.workspace_id = $1 ORDER BY p.media_id`,
    [workspaceId],
  )
  const shown = media.map(({ media_id, role, content_type }) => ({
    isVideo: content_type.startsWith('video/'),
    reference: { media_id, role, url: `${apiHost}/v1/media/${media_id}/file` },
  }))
  const profile = row?.generated ?? emptyProfile
  const logo = shown.find(({ reference }) => reference.role === 'logo')?.reference.url
  return {
    workspace_id: workspaceId,
    status: row?.status ?? 'empty',
    source_urls: row?.source_urls ?? [],
    ...profile,
    ...(logo !== undefined && withLogo(profile, logo)),
    images: shown.filter(({ isVideo }) => !isVideo).map(({ reference }) => reference),
    videos: shown.filter(({ isVideo }) => isVideo).map(({ reference }) => reference),
    error: row?.error ?? null,
    generated_at: row?.generated_at?.toISOString() ?? null,
    version: row?.version ?? 0,
  }
}

/** In the place of the pages' logo, as its evidence too. */
function withLogo({ visual_identity, evidence }: GeneratedProfile, url: string) {
  const field = 'visual_identity.logo_url'
  return {
    visual_identity: { ...visual_identity, logo_url: url },
    evidence: [
      ...evidence.filter((one) => one.field !== field),
      { field, quote: url, source_url: '/v1/company-profile' },
    ],
  }
}

/**
 * Orders a generation, after those that others ordered before. A generation under way is then not kept, and the new one
 * begins once it has ended.
 * @param sourceUrls those that stand, where left out
 */
export async function orderProfile(q: Queryable, workspaceId: number, sourceUrls?: readonly string[]): Promise<void> {
  await q.query(
    `INSERT INTO company_profiles AS p (workspace_id, source_urls, status) VALUES ($1, coalesce($2::text[], '{}'), 'generating')
     ON CONFLICT (workspace_id) DO UPDATE SET source_urls = coalesce($2::text[], p.source_urls), status = 'generating',
       request = p.request + 1, attempts = 0, requested_at = clock_timestamp()`,
    [workspaceId, sourceUrls ?? null],
  )
}

export interface OrderedProfile {
  readonly workspaceId: number
  readonly sourceUrls: readonly string[]
  readonly request: number
  readonly attempts: number
}

/** Takes one that is to be generated for a while: a process that dies leaves it to another. */
export async function claimProfile(q: Queryable): Promise<OrderedProfile | undefined> {
  const [row] = await q.query<OrderedProfile>(
    `UPDATE company_profiles SET claimed_until = now() + ${intervalOf(String(profileClaimMs))}, attempts = attempts + 1
     WHERE workspace_id = (
       SELECT workspace_id FROM company_profiles
       WHERE status = 'generating' AND (claimed_until IS NULL OR claimed_until < now())
       ORDER BY requested_at, workspace_id LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING workspace_id AS "workspaceId", source_urls AS "sourceUrls", request, attempts`,
  )
  return row
}

/** Ends the claim of one that was ordered anew since, unless another process has taken the new one already. */
export async function releaseReplaced(q: Queryable, { workspaceId, request }: OrderedProfile): Promise<void> {
  await q.query(
    'UPDATE company_profiles SET claimed_until = NULL WHERE workspace_id = $1 AND request > $2 AND attempts = 0',
    [workspaceId, request],
  )
}

/** Whether a claim that failed is the last one. */
export const isLastAttempt = ({ attempts }: OrderedProfile): boolean => attempts >= profileAttemptsMax

export interface GenerationResult {
  readonly status: 'ready' | 'failed'
  /** Undefined: what there was stays. */
  readonly generated: GeneratedProfile | undefined
  readonly error: string | null
}

/** @returns whether it was still wanted */
export async function saveProfile(
  q: Queryable,
  { workspaceId, request }: OrderedProfile,
  { status, generated, error }: GenerationResult,
): Promise<boolean> {
  const saved = await q.query(
    `UPDATE company_profiles SET status = $3, generated = coalesce($4::jsonb, generated), error = $5,
       generated_at = CASE WHEN $4::jsonb IS NULL THEN generated_at ELSE now() END, version = version + 1, claimed_until = NULL
     WHERE workspace_id = $1 AND request = $2 AND status = 'generating' RETURNING 1`,
    [workspaceId, request, status, generated === undefined ? null : JSON.stringify(generated), error],
  )
  return saved.length > 0
}

/** Run it in a transaction, which holds off others of the workspace. @returns false where the profile has as many as it may have */
export async function putProfileMedia(
  tx: Queryable,
  workspaceId: number,
  { mediaId, role }: { readonly mediaId: number; readonly role: MediaRole },
): Promise<boolean> {
  await takeNamedLock(tx, `profile media of workspace ${workspaceId}`)
  const put = await tx.query(
    `INSERT INTO company_profile_media (workspace_id, media_id, role)
     SELECT $1, $2, $3 WHERE (SELECT count(*) FROM company_profile_media WHERE workspace_id = $1 AND media_id != $2) < ${profileMediaMax}
     ON CONFLICT (workspace_id, media_id) DO UPDATE SET role = excluded.role RETURNING 1`,
    [workspaceId, mediaId, role],
  )
  return put.length > 0
}

/** @returns whether it was there */
export async function removeProfileMedia(q: Queryable, workspaceId: number, mediaId: number): Promise<boolean> {
  const removed = await q.query(
    'DELETE FROM company_profile_media WHERE workspace_id = $1 AND media_id = $2 RETURNING 1',
    [workspaceId, mediaId],
  )
  return removed.length > 0
}
