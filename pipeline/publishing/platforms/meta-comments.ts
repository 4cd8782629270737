/**
 * First comments on Facebook and Instagram, by the page's token (Meta's documentation: "Pages API: Comments", "Instagram
 * Platform: Comments"). An earlier attempt's is looked for by its text among the account's own comments under the post.
 */
import { membersOf } from '../../../schemas/json-object.ts'
import { type CommentWriter, commentedOf, externalIdOf, ProviderError, type Published } from '../adapter.ts'
import { withPermission } from '../first-comments.ts'
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
  /** Permissions to write a comment, and to look for one. */
  readonly toWrite: string
  readonly toLook: string
  /** How comments are listed, newest first. */
  readonly listing: Omit<Listing, 'url' | 'others' | 'isLeftOut'>
  /** Fields of a listed comment that have its author's id. */
  readonly authors: readonly string[]
  urlOf(comment: string, post: Published): string
}

export function metaComments({
  toWrite,
  toLook,
  listing,
  authors,
  urlOf,
}: CommentPlatform): CommentWriter<MetaCredentials> {
  const edgeOf = ({ externalId }: Published) => `${facebookApi}/${externalId}/comments`
  const publishedAs = (id: string, post: Published): Published => ({ externalId: id, url: urlOf(id, post) })
  return withPermission(
    { toWrite, toLook, isMissing: isPermissionMissing },
    {
      async lookUp(call, publication, known) {
        const post = commentedOf(publication)
        const own: Listing = {
          ...listing,
          url: edgeOf(post),
          others: authors.join(),
          // Where Meta tells no author, an equal text counts as ours: better none than two.
          isLeftOut(comment) {
            const told = authors.map((field) => membersOf(comment[field])['id']).filter((id) => id !== undefined)
            return told.length > 0 && !told.includes(externalIdOf(call))
          },
        }
        const found = await findPost(call, own, publication, known).catch((error) => {
          throw error instanceof ProviderError && error.failure.kind === 'unknown' ? hidden(error) : error
        })
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

/** A published post isn't scheduled again, so nothing is said of that. */
const hidden = ({ failure }: ProviderError) =>
  new ProviderError(failure, 'More comments came since than can be looked through. Look under the post')
