/**
 * First comments on LinkedIn (its documentation: "Comments API"), as the person or the page that published the post. A
 * page's comments are listed, so an earlier attempt's is looked for. No scope of apps lists those of a person.
 */
import { membersOf } from '../../../schemas/json-object.ts'
import {
  linkedinListedMs,
  linkedinPostsEach,
  linkedinPublishMs,
  providerClockOffMs,
} from '../../../schemas/limits/publish-limits.ts'
import {
  asRefused,
  type CommentWriter,
  commentedOf,
  externalIdOf,
  ProviderError,
  type Publication,
  type Published,
} from '../adapter.ts'
import { withPermission } from '../first-comments.ts'
import { lookTwice } from '../look-up.ts'
import { objectIn, odd } from '../request.ts'
import { ask, type Calling, isPage, type LinkedinCredentials } from './linkedin-api.ts'
import { isSamePlainText } from './linkedin-text.ts'

const permission = {
  toWrite: 'the scope w_member_social_feed, for a page w_organization_social_feed',
  toLook: 'the scope r_organization_social_feed',
  isMissing: (error: unknown) => membersOf((error as Error).cause)['status'] === 403,
}

export const linkedinComments: CommentWriter<LinkedinCredentials> = withPermission(permission, {
  async lookUp(call, publication) {
    if (!isPage(externalIdOf(call))) throw unknown()
    return lookTwice(linkedinListedMs, call, () => findComment(call, publication))
  },

  async publish(call, publication) {
    const post = commentedOf(publication)
    const json = { actor: externalIdOf(call), object: post.externalId, message: { text: publication.text } }
    try {
      const { body, header } = await ask(call, edgeOf(post), { method: 'POST', json, deadlineMs: linkedinPublishMs })
      return publishedAs(body['commentUrn'] ?? header('x-restli-id'), post)
    } catch (error) {
      throw asRefused(error)
    }
  },
})

/** @throws ProviderError as `unknown` where there are more comments since the first attempt than are listed */
async function findComment(call: Calling, publication: Publication): Promise<Published | null> {
  const { text, sentAt } = publication
  const post = commentedOf(publication)
  const { body } = await ask(call, `${edgeOf(post)}?count=${linkedinPostsEach}`)
  const elements = Object.values(objectIn(body, 'elements')).map((element) => membersOf(element))
  const from = sentAt!.getTime() - providerClockOffMs
  const recent = elements.filter(({ created }) => Number(membersOf(created)['time']) >= from)
  const found = recent.find(({ actor, message }) => {
    return actor === externalIdOf(call) && isSamePlainText(String(membersOf(message)['text'] ?? ''), text)
  })
  if (found !== undefined) return publishedAs(found.commentUrn ?? found.id, post)
  if (elements.length === linkedinPostsEach) throw unknown()
  return null
}

const edgeOf = ({ externalId }: Published) => `/rest/socialActions/${encodeURIComponent(externalId)}/comments`

/** @throws ProviderError where the answer has no such id: it is part of links */
function publishedAs(id: unknown, post: Published): Published {
  if (typeof id !== 'string' || !commentId.test(id)) throw odd("The platform's answer doesn't say the comment's id")
  return { externalId: id, url: id.startsWith('urn:') ? `${post.url}?commentUrn=${encodeURIComponent(id)}` : post.url }
}

const commentId = /^(?:\d{1,20}|urn:li:comment:\(urn:li:(?:activity|share|ugcPost):\d{1,20},\d{1,20}\))$/

const unknown = () =>
  new ProviderError(
    { kind: 'unknown', code: 'outcome_unknown' },
    "LinkedIn didn't say whether it published the comment. Look under the post",
  )
