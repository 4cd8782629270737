/** The accounts, media and captions that a post names, as far as the workspace has them. */
import type { z } from 'zod'
import type { Queryable } from '../../postgres/client.ts'
import { readSocialAccounts, type SocialAccount } from '../../postgres/tables/accounts/social-accounts.ts'
import type { ChosenTarget } from '../../postgres/tables/posts/post-targets.ts'
import { type PostedMedia, readPostedMedia, type ThreadPart } from '../../postgres/tables/posts/posts.ts'
import { lengthOf } from '../../schemas/code-points.ts'
import { invalid } from '../../schemas/errors/problems.ts'
import { valueError } from '../../schemas/errors/validation-errors.ts'
import { postCaptionOverridesLengthMax } from '../../schemas/limits/api-limits.ts'
import { type PostCreate, strayPlatformText } from '../../schemas/resources/post.ts'
import type { Issue, IssueCode } from './issue.ts'

/** Captions by platform; an empty one is none. */
type Captions = Readonly<Record<string, string>>

export interface Named {
  readonly mediaIds: readonly number[]
  readonly accountIds: readonly number[]
  readonly captions: Captions
  readonly thread: readonly ThreadPart[]
  /** The captions are those of before: one whose platform isn't chosen any more goes, and is no mistake. */
  readonly isCaptionKept?: boolean
  /** The same of those in the thread. */
  readonly isThreadKept?: boolean
}

export function namedIn({
  media_ids,
  social_account_ids,
  platform_captions,
  thread,
}: z.output<typeof PostCreate>): Named {
  return { mediaIds: media_ids, accountIds: social_account_ids, captions: platform_captions, thread }
}

/** `at`: the place in the list that was sent. */
export type Placed<Thing> = Thing & { readonly at: number }

/** A part of the thread. */
interface ChosenPart {
  readonly text: string
  readonly media: readonly Placed<PostedMedia>[]
  /** In place of its text, by platform. */
  readonly captions: ReadonlyMap<string, string>
}

export interface Choice {
  readonly media: readonly Placed<PostedMedia>[]
  readonly accounts: readonly Placed<SocialAccount>[]
  readonly captions: ReadonlyMap<string, string>
  readonly thread: readonly ChosenPart[]
  /** Ids that don't exist, in the order of the fields. */
  readonly unknown: readonly Issue[]
}

/**
 * Repeats are dropped, the first one counts.
 * @throws Problem where the captions of all targets together are longer than a list could show
 */
export async function readChoice(pg: Queryable, workspaceId: number, named: Named): Promise<Choice> {
  const { mediaIds, accountIds, thread } = named
  const allMediaIds = [...new Set([...mediaIds, ...thread.flatMap(({ media_ids }) => media_ids)])]
  const [media, accounts] = [
    allMediaIds.length > 0 ? await readPostedMedia(pg, workspaceId, allMediaIds) : [],
    accountIds.length > 0 ? await readSocialAccounts(pg, workspaceId, accountIds) : [],
  ]
  const chosenMedia = mediaAmong(media, mediaIds, [])
  const chosenAccounts = inOrder(accountIds, accounts)
  const platforms = new Set<string>(accounts.map(({ platform }) => platform))
  const captions = captionsFor(platforms, named.captions, [], named.isCaptionKept)
  const parts = thread.map(({ text, media_ids, platform_captions }, at) => ({
    text,
    media: mediaAmong(media, media_ids, ['thread', at]),
    captions: captionsFor(platforms, platform_captions, ['thread', at], named.isThreadKept),
  }))
  requireShortTogether(chosenAccounts.found, captions.chosen, parts, named.captions)
  return {
    media: chosenMedia.found,
    accounts: chosenAccounts.found,
    captions: captions.chosen,
    thread: parts.map(({ text, media, captions }) => ({ text, media: media.found, captions: captions.chosen })),
    unknown: [
      ...chosenMedia.unknown,
      ...chosenAccounts.missing.map((at) =>
        notThere(['social_account_ids', at], 'account_not_found', 'Social account not found', accountIds[at]),
      ),
      ...captions.unknown,
      ...parts.flatMap(({ media, captions }) => [...media.unknown, ...captions.unknown]),
    ],
  }
}

/** @param place of the object that names them */
function mediaAmong(media: readonly PostedMedia[], ids: readonly number[], place: Place) {
  const { found, missing } = inOrder(ids, media)
  const unknown = missing.map((at) =>
    notThere([...place, 'media_ids', at], 'media_not_found', 'Media asset not found', ids[at]),
  )
  return { found, unknown }
}

function captionsFor(platforms: ReadonlySet<string>, captions: Captions, place: Place, isKept = false) {
  const strays = isKept ? [] : Object.keys(captions).filter((platform) => !platforms.has(platform))
  return {
    chosen: new Map(Object.entries(captions).filter(([platform, text]) => text !== '' && platforms.has(platform))),
    unknown: strays.map((platform) =>
      notThere([...place, 'platform_captions', platform], 'platform_not_chosen', strayPlatformText, captions[platform]),
    ),
  }
}

/** As posts are stored. */
export function threadOf({ thread }: Choice) {
  return thread.map(({ text, captions }) => ({ text, platform_captions: Object.fromEntries(captions) }))
}

/** Ids of the media of each part, those of the caption first. */
export function mediaOf({ media, thread }: Choice): number[][] {
  return [media, ...thread.map((part) => part.media)].map((files) => files.map(({ id }) => id))
}

/** A target for each account, with the caption of its platform. */
export function targetsOf({ accounts, captions }: Choice): ChosenTarget[] {
  return accounts.map(({ id, platform }) => ({ accountId: id, captionOverride: captions.get(platform) ?? null }))
}

function requireShortTogether(
  accounts: readonly SocialAccount[],
  captions: ReadonlyMap<string, string>,
  thread: readonly { readonly captions: { readonly chosen: ReadonlyMap<string, string> } }[],
  input: unknown,
): void {
  const lengths = new Map([...captions].map(([platform, text]) => [platform, lengthOf(text)]))
  // Each target stores its caption; those of the thread are stored once.
  const ofThread = thread.flatMap(({ captions: { chosen } }) => [...chosen.values()]).map(lengthOf)
  const ofTargets = accounts.map(({ platform }) => lengths.get(platform) ?? 0)
  const length = [...ofTargets, ...ofThread].reduce((sum, one) => sum + one, 0)
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

type Place = readonly (string | number)[]

function notThere(path: Place, code: IssueCode, message: string, input: unknown): Issue {
  return { loc: ['body', ...path], code, message, platform: null, accountId: null, input }
}
