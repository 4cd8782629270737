/**
 * First comments on Facebook and Instagram, by the page's token (Meta's documentation: "Pages API: Comments", "Instagram
 * Platform: Comments"). An earlier attempt's is looked for by its text among the comments under the post.
 */
import { type CommentWriter, commentedOf, type Published } from './adapter.ts'
import { withPermission } from './first-comments.ts'
import {
  facebookApi,
  findPost,
  idIn,
  isPermissionMissing,
  type Listing,
  type MetaCredentials,
  publishBy,
} from './meta-api.ts'

interface CommentPlatform {
  /** Permissions for it. */
  readonly needed: string
  /** How comments are listed, newest first. */
  readonly listing: Omit<Listing, 'url'>
  urlOf(comment: string, post: Published): string
}

export function metaComments({ needed, listing, urlOf }: CommentPlatform): CommentWriter<MetaCredentials> {
  const edgeOf = ({ externalId }: Published) => `${facebookApi}/${externalId}/comments`
  const publishedAs = (id: string, post: Published): Published => ({ externalId: id, url: urlOf(id, post) })
  return withPermission(
    { needed, isMissing: isPermissionMissing },
    {
      async lookUp(call, publication, known) {
        const post = commentedOf(publication)
        const found = await findPost(call, { ...listing, url: edgeOf(post) }, publication, known)
        return found === null ? null : publishedAs(idIn(found), post)
      },

      async publish(call, publication) {
        const post = commentedOf(publication)
        const { body } = await publishBy(call, edgeOf(post), { message: publication.text })
        return publishedAs(idIn(body), post)
      },
    },
  )
}
