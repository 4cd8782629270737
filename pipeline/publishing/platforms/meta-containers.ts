/**
 * Publishing by containers, as Threads and Instagram do (Meta's documentation: "Threads API: Posts", "Instagram Platform:
 * Content Publishing"). A container holds a text and the addresses of files, which Meta fetches. It is polled until Meta
 * has done with it, and one further request publishes it. A container that isn't published ends after a day, unseen.
 *
 * Meta knows no key of ours: later attempts look for the text among the account's newest posts.
 */
import { membersOf } from '../../../schemas/json-object.ts'
import type { MediaKind } from '../../../schemas/reference/providers.ts'
import { kindOf } from '../../../schemas/reference/providers.ts'
import {
  type Adapter,
  externalIdOf,
  ProviderError,
  type Published,
  type PublishedMedia,
  type ReplyTo,
} from '../adapter.ts'
import { pollUntil } from '../poll-until.ts'
import { cutText, textIn } from '../request.ts'
import {
  type Calling,
  type Fields,
  find,
  findPost,
  get,
  idIn,
  isPermissionMissing,
  type Listing,
  type MetaCredentials,
  post,
  publishBy,
} from './meta-api.ts'

export interface ContainerPlatform {
  /** As `publish_result` names it. */
  readonly name: string
  readonly label: string
  /** Root of the API, with its version. */
  readonly api: string
  /** Where containers are made, and published posts are listed. */
  readonly edge: string
  readonly publishEdge: string
  readonly text: string
  /** Fields of a container: its state, and why it failed. */
  readonly status: string
  readonly reason: string
  /** The profile's address, before its name. */
  readonly profile: string
  /** @param isAlone it is all that the post shows */
  itemOf(kind: MediaKind, url: string, altText: string | undefined, isAlone: boolean): Fields
}

/** `prepare` gives the container's id. */
export function containerAdapter(platform: ContainerPlatform): Adapter<MetaCredentials, string> {
  const { name, label, api, edge, publishEdge, text: textField } = platform

  async function begin(call: Calling, fields: Fields): Promise<string> {
    return idIn((await post(call, `${api}/${externalIdOf(call)}/${edge}`, fields)).body)
  }

  async function untilFinished(call: Calling, container: string): Promise<void> {
    await pollUntil(call, async () => {
      const fields = `${platform.status},${platform.reason}`
      const { body } = await get(call, `${api}/${container}`, { fields })
      const status = textIn(body, platform.status)
      if (status !== 'ERROR' && status !== 'EXPIRED') return status === 'FINISHED'
      const reason = cutText(String(body[platform.reason] ?? status))
      // Whoever can't fetch a file now, or fails at it for no reason, may be able to later: Meta asks for another container.
      const isPassing = /download|unknown|22070(01|03|20|32|52|53)/i.test(reason)
      const failure = {
        kind: isPassing ? 'transient' : 'permanent',
        code: isPassing ? 'unavailable' : 'refused',
      } as const
      throw new ProviderError(failure, `${label} can't publish the files: ${reason}`)
    })
  }

  const itemOf = (file: PublishedMedia, isAlone: boolean): Fields => {
    const altText = file.altText === '' ? undefined : file.altText
    return platform.itemOf(kindOf(file.contentType), file.publicUrl!, altText, isAlone)
  }

  async function linkOf(call: Calling, id: string): Promise<string> {
    try {
      return textIn((await get(call, `${api}/${id}`, { fields: 'permalink' })).body, 'permalink')
    } catch (error) {
      // It is published. Only its address isn't known.
      if (error instanceof ProviderError) return platform.profile + call.account.handle.replace(/^@/, '')
      throw error
    }
  }

  return {
    name,

    validate({ media }) {
      if (media.every(({ publicUrl }) => publicUrl !== null)) return null
      return `${label} fetches files from here: set API_HOST to the public https address of this server`
    },

    async lookUp(call, publication, known) {
      const { replyTo } = publication
      const findIn = (listing: Listing) => findPost(call, listing, publication, known)
      const findReply = async ({ parent: { externalId: parent } }: ReplyTo) => {
        const reply = await findIn(repliesOf(platform, externalIdOf(call), parent))
        if (reply !== null || (await find(call, `${api}/${parent}`, { fields: 'id' })) !== null) return reply
        return findIn(repliesOf(platform, externalIdOf(call), undefined))
      }
      const found = await (replyTo
        ? asReply(replyTo, () => findReply(replyTo))
        : findIn(postsOf(platform, externalIdOf(call))))
      if (found === null) return null
      const { permalink } = found
      return publishedAs(idIn(found), typeof permalink === 'string' ? permalink : await linkOf(call, idIn(found)))
    },

    async prepare(call, { text, media, replyTo }) {
      const [first, ...others] = media
      let show: Fields = { media_type: 'TEXT' }
      if (first !== undefined && others.length === 0) show = itemOf(first, true)
      if (others.length > 0) {
        const children: string[] = []
        for (const file of media) {
          children.push(await begin(call, { ...itemOf(file, false), is_carousel_item: 'true' }))
        }
        for (const child of children) await untilFinished(call, child)
        show = { media_type: 'CAROUSEL', children: children.join() }
      }
      const fields = { ...show, [textField]: text, reply_to_id: replyTo?.parent.externalId }
      const container = await asReply(replyTo, () => begin(call, fields))
      await untilFinished(call, container)
      return container
    },

    async publish(call, _, container) {
      const { body } = await publishBy(call, `${api}/${externalIdOf(call)}/${publishEdge}`, { creation_id: container })
      return publishedAs(idIn(body), await linkOf(call, idIn(body)))
    },
  }
}

/** A token may lack the permissions for replies and be good for all else: then the account stays connected. */
async function asReply<Result>(replyTo: ReplyTo | null, ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask()
  } catch (error) {
    if (replyTo === null || !isPermissionMissing(error)) throw error
    const message = `${error.message} (a thread needs threads_manage_replies and threads_read_replies)`
    throw new ProviderError({ kind: 'permanent', code: 'permission_missing' }, message, {
      cause: error.cause as object,
    })
  }
}

const publishedAs = (externalId: string, url: string): Published => ({ externalId, url })

/** The published posts of an account. */
export const postsOf = ({ api, edge, text }: ContainerPlatform, user: string): Listing => ({
  url: `${api}/${user}/${edge}`,
  text,
  time: 'timestamp',
  others: 'permalink',
})

/** The account's replies to a part of a thread, on Threads. @param parent undefined for those to posts that are gone */
const repliesOf = ({ api, text }: ContainerPlatform, user: string, parent: string | undefined): Listing => ({
  url: `${api}/${user}/replies`,
  text,
  time: 'timestamp',
  others: 'permalink,replied_to',
  isLeftOut: (post) => membersOf(post['replied_to'])['id'] !== parent,
})
