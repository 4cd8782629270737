/**
 * Professional accounts on Instagram, by the access token of the page on Facebook that they are connected to (Meta's
 * documentation: "Instagram Platform: Content Publishing", with Facebook Login). A video alone becomes a reel.
 */
import { instagramCommentsEach } from '../../../schemas/limits/publish-limits.ts'
import { type Adapter, ProviderError } from '../adapter.ts'
import { countIn, objectIn, textIn } from '../request.ts'
import { readPage } from './facebook.ts'
import { facebookApi, find, idIn, listPosts, type MetaCredentials } from './meta-api.ts'
import { metaComments } from './meta-comments.ts'
import { type ContainerPlatform, containerAdapter, postsOf } from './meta-containers.ts'

const platform: ContainerPlatform = {
  name: 'instagram',
  label: 'Instagram',
  api: facebookApi,
  edge: 'media',
  publishEdge: 'media_publish',
  text: 'caption',
  status: 'status_code',
  reason: 'status',
  profile: 'https://www.instagram.com/',
  // Only images have alternative texts.
  itemOf: (kind, url, altText, isAlone) =>
    kind === 'video'
      ? { media_type: isAlone ? 'REELS' : 'VIDEO', video_url: url }
      : { image_url: url, alt_text: altText },
}

export const instagram: Adapter<MetaCredentials, string> = {
  ...containerAdapter(platform),

  // A comment has no address of its own. `user` is there on comments of the account alone, and `from` may have another id of it.
  comments: metaComments({
    toWrite: 'instagram_manage_comments',
    toLook: 'instagram_manage_comments',
    authors: ['from', 'user'],
    listing: { text: 'text', time: 'timestamp', each: instagramCommentsEach },
    urlOf: (_, { url }) => url,
  }),

  // Views need a permission more, and aren't counted for all kinds of posts.
  engagement: {
    postsPerRequest: 1,
    async read(call, [id]) {
      const found = await find(call, `${facebookApi}/${id}`, { fields: 'like_count,comments_count' })
      if (found === null) return new Map([[id!, null]])
      // The account may hide its likes.
      const [likes, comments] = [countIn(found['like_count']), countIn(found['comments_count'])]
      return new Map([[id!, { likes, comments, shares: null, views: null }]])
    },
  },
}

/**
 * Reads the page's account on Instagram, and its posts, as every look-up does.
 * @param credentials a token of the page, or of a person who publishes there
 * @throws ProviderError where the token isn't accepted, or the page has no such account
 */
export async function describeInstagram(credentials: MetaCredentials, page: string, signal: AbortSignal) {
  const own = await readPage({ credentials, signal }, page, 'instagram_business_account{id,username,name}')
  if (own.body['instagram_business_account'] === undefined) {
    const failure = { kind: 'permanent', code: 'refused' } as const
    throw new ProviderError(failure, 'The page has no professional account on Instagram connected to it')
  }
  const account = objectIn(own.body, 'instagram_business_account')
  const [externalId, username] = [idIn(account), textIn(account, 'username')]
  await listPosts({ credentials: own.credentials, signal }, postsOf(platform, externalId), 1)
  const displayName = String(account['name'] || username)
  return { credentials: own.credentials, externalId, handle: `@${username}`, displayName, metadata: {} }
}
