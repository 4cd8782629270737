/** Accounts and media to post with, and the API asked as JSON. */
import { randomBytes } from 'node:crypto'
import type { z } from 'zod'
import { connectSocialAccount } from '../../postgres/tables/accounts/social-accounts.ts'
import { insertLink, type NewLink, type TrackedLink } from '../../postgres/tables/links/links.ts'
import type { Platform } from '../../schemas/reference/providers.ts'
import type { PostResource } from '../../schemas/resources/post.ts'
import type { TestApi } from './api.ts'
import type { TestStores } from './stores.ts'

export type { ValidationError as Fault } from '../../schemas/errors/validation-errors.ts'
export type ShownPost = z.output<typeof PostResource>

/** Asks with a key; what is sent, and what comes back, is JSON. */
export function asking(api: TestApi, key: () => string) {
  // biome-ignore lint/suspicious/noExplicitAny: what a refusal holds is what a test looks at
  return async <Body = any>(method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }> => {
    const response = await api.ask(path, {
      method,
      key: key(),
      ...(body !== undefined && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Body }
  }
}

let handles = 0

export async function makeAccount({ pg }: Pick<TestStores, 'pg'>, workspaceId: number, platform: Platform) {
  handles += 1
  const made = {
    workspaceId,
    platform,
    handle: `handle-${handles}`,
    displayName: undefined,
    externalId: null,
    metadata: {},
  }
  return (await connectSocialAccount(pg, { ...made, connectionType: 'simulated' })).id
}

export async function makePost({ pg }: Pick<TestStores, 'pg'>, workspaceId: number): Promise<number> {
  const [post] = await pg.query<{ id: number }>(
    `INSERT INTO posts (workspace_id, title, base_caption) VALUES ($1, 'a', 'b') RETURNING id`,
    [workspaceId],
  )
  return post!.id
}

export function makeLink(
  { pg }: Pick<TestStores, 'pg'>,
  workspaceId: number,
  postId: number | null,
  more: Partial<NewLink> = {},
): Promise<TrackedLink> {
  return insertLink(pg, { ...newLink, workspaceId, postId, ...more })
}

/** All but the workspace of a link that nobody chose a key for. */
export const newLink = {
  label: 'a',
  destinationUrl: 'https://example.com/sale',
  postId: null,
  socialAccountId: null,
  utmSource: 'svc',
  utmMedium: 'social',
  utmCampaign: '',
  utmContent: '',
}

export interface MadeMedia {
  readonly contentType?: string
  readonly sizeBytes?: number
  readonly altText?: string
  readonly width?: number
  readonly height?: number
}

/** A row without its bytes: nothing of posts reads them. */
export async function makeMedia({ pg }: Pick<TestStores, 'pg'>, workspaceId: number, made: MadeMedia = {}) {
  const { contentType = 'image/png', sizeBytes = 1000, altText = 'A picture', width = 100, height = 100 } = made
  const [row] = await pg.query<{ id: number }>(
    `INSERT INTO media (workspace_id, filename, original_filename, content_type, size_bytes, alt_text, sha256, width, height)
     VALUES ($1, 'a', 'a', $2, $3, $4, $5, $6, $7) RETURNING id`,
    [workspaceId, contentType, sizeBytes, altText, randomBytes(32), width, height],
  )
  return row!.id
}
