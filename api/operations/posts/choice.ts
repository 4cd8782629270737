/** The accounts, media and captions that a post names, as far as the workspace has them. */
import type { z } from 'zod'
import type { Queryable } from '../../../postgres/client.ts'
import { type ChosenTarget, type PostedMedia, readPostedMedia } from '../../../postgres/tables/posts.ts'
import { readSocialAccounts, type SocialAccount } from '../../../postgres/tables/social-accounts.ts'
import { lengthOf } from '../../../schemas/code-points.ts'
import { invalid } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { postCaptionOverridesLengthMax } from '../../../schemas/limits/api-limits.ts'
import { type PostCreate, strayPlatformText } from '../../../schemas/resources/post.ts'
import type { Issue, IssueCode } from './issue.ts'

export interface Named {
  readonly mediaIds: readonly number[]
  readonly accountIds: readonly number[]
  /** By platform; an empty one is none. */
  readonly captions: Readonly<Record<string, string>>
  /** The captions are those of before: one whose platform isn't chosen any more goes, and is no mistake. */
  readonly isCaptionKept?: boolean
}

export function namedIn({ media_ids, social_account_ids, platform_captions }: z.output<typeof PostCreate>): Named {
  return { mediaIds: media_ids, accountIds: social_account_ids, captions: platform_captions }
}

/** `at`: the place in the list that was sent. */
export type Placed<Thing> = Thing & { readonly at: number }

export interface Choice {
  readonly media: readonly Placed<PostedMedia>[]
  readonly accounts: readonly Placed<SocialAccount>[]
  readonly captions: ReadonlyMap<string, string>
  /** Ids that don't exist, in the order of the fields. */
  readonly unknown: readonly Issue[]
}

/**
 * Repeats are dropped, the first one counts.
 * @throws Problem where the captions of all targets together are longer than a list could show
 */
export async function readChoice(pg: Queryable, workspaceId: number, named: Named): Promise<Choice> {
  const { mediaIds, accountIds, captions } = named
  const [media, accounts] = [
    mediaIds.length > 0 ? await readPostedMedia(pg, workspaceId, mediaIds) : [],
    accountIds.length > 0 ? await readSocialAccounts(pg, workspaceId, accountIds) : [],
  ]
  const chosenMedia = inOrder(mediaIds, media)
  const chosenAccounts = inOrder(accountIds, accounts)
  const platforms = new Set<string>(accounts.map(({ platform }) => platform))
  const strays = named.isCaptionKept ? [] : Object.keys(captions).filter((platform) => !platforms.has(platform))
  const chosenCaptions = new Map(
    Object.entries(captions).filter(([platform, text]) => text !== '' && platforms.has(platform)),
  )
  requireShortTogether(chosenAccounts.found, chosenCaptions, captions)
  return {
    media: chosenMedia.found,
    accounts: chosenAccounts.found,
    captions: chosenCaptions,
    unknown: [
      ...chosenMedia.missing.map((at) =>
        notThere(['media_ids', at], 'media_not_found', 'Media asset not found', mediaIds[at]),
      ),
      ...chosenAccounts.missing.map((at) =>
        notThere(['social_account_ids', at], 'account_not_found', 'Social account not found', accountIds[at]),
      ),
      ...strays.map((platform) =>
        notThere(['platform_captions', platform], 'platform_not_chosen', strayPlatformText, captions[platform]),
      ),
    ],
  }
}

/** A target for each account, with the caption of its platform. */
export function targetsOf({ accounts, captions }: Choice): ChosenTarget[] {
  return accounts.map(({ id, platform }) => ({ accountId: id, captionOverride: captions.get(platform) ?? null }))
}

function requireShortTogether(
  accounts: readonly SocialAccount[],
  captions: ReadonlyMap<string, string>,
  input: unknown,
): void {
  const lengths = new Map([...captions].map(([platform, text]) => [platform, lengthOf(text)]))
  const length = accounts.reduce((sum, { platform }) => sum + (lengths.get(platform) ?? 0), 0)
  if (length <= postCaptionOverridesLengthMax) return
  const text = `The captions of all targets together must have at most ${postCaptionOverridesLengthMax} characters, these have ${length}`
  throw invalid([valueError(['body', 'platform_captions'], input, text)])
}

function inOrder<Thing extends { readonly id: number }>(ids: readonly number[], things: readonly Thing[]) {
  const byId = new Map(things.map((thing) => [thing.id, thing]))
  const found: Placed<Thing>[] = []
  const missing: number[] = []
  const seen = new Set<number>()
  for (const [at, id] of ids.entries()) {
    if (seen.has(id)) continue
    seen.add(id)
    const thing = byId.get(id)
    if (thing === undefined) missing.push(at)
    else found.push({ ...thing, at })
  }
  return { found, missing }
}

function notThere(path: (string | number)[], code: IssueCode, message: string, input: unknown): Issue {
  return { loc: ['body', ...path], code, message, platform: null, accountId: null, input }
}
