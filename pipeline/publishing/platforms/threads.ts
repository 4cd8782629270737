/**
 * Threads, by a long-lived access token of the account (Meta's documentation: "Threads API: Posts", "Long-Lived Access
 * Tokens"). It holds for 60 days. It can be renewed while it holds and is a day old, so it is renewed ahead of its end.
 */

import { type Figures, sumOf } from '../../../schemas/engagement.ts'
import { membersOf } from '../../../schemas/json-object.ts'
import { threadsRenewMs } from '../../../schemas/limits/publish-limits.ts'
import { type Adapter, ProviderError } from '../adapter.ts'
import { askProvider, countIn, objectIn, textIn } from '../request.ts'
import { find, get, idIn, listPosts, type MetaCredentials, type Signed } from './meta-api.ts'
import { type ContainerPlatform, containerAdapter, postsOf } from './meta-containers.ts'

export const threadsHost = 'https://graph.threads.net'

const platform: ContainerPlatform = {
  name: 'threads',
  label: 'Threads',
  api: `${threadsHost}/v1.0`,
  edge: 'threads',
  publishEdge: 'threads_publish',
  text: 'text',
  status: 'status',
  reason: 'error_message',
  profile: 'https://www.threads.com/@',
  itemOf: (kind, url, altText) => ({
    ...(kind === 'video' ? { media_type: 'VIDEO', video_url: url } : { media_type: 'IMAGE', image_url: url }),
    alt_text: altText,
  }),
}

export interface ThreadsCredentials extends MetaCredentials {
  /** When the token was given or renewed, in milliseconds since 1970. */
  readonly renewedAt: number
}

export const threads: Adapter<ThreadsCredentials, string> = {
  ...containerAdapter(platform),

  isDue: ({ renewedAt }) => Math.abs(Date.now() - renewedAt) > threadsRenewMs,

  async refresh({ credentials: { accessToken }, signal }) {
    const query = new URLSearchParams({ grant_type: 'th_refresh_token', access_token: accessToken })
    try {
      const { body } = await askProvider({ url: `${threadsHost}/refresh_access_token?${query}`, signal })
      return { accessToken: textIn(body, 'access_token'), renewedAt: Date.now() }
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      // It is over, or too young: it stays the one that there is.
      if (error.failure.kind === 'permanent') return null
      // The token stands in the address, which a proxy may repeat.
      throw new ProviderError(error.failure, error.message.replaceAll(accessToken, '…'))
    }
  },

  async findGone(call, ids) {
    const gone = new Set<string>()
    for (const id of ids) if ((await find(call, `${platform.api}/${id}`, { fields: 'id' })) === null) gone.add(id)
    return gone
  },

  // The permission `threads_manage_insights`.
  engagement: {
    postsPerRequest: 1,
    async read(call, [id]) {
      const found = await find(call, `${platform.api}/${id}/insights`, { metric: 'views,likes,replies,reposts,quotes' })
      return new Map([[id!, found && figuresIn(Object.values(objectIn(found, 'data')))]])
    },
  },
}

/** Quotes are shares, too. */
function figuresIn(metrics: readonly unknown[]): Figures {
  const count = (name: string) => {
    const values = membersOf(metrics.find((metric) => membersOf(metric)['name'] === name))['values']
    return countIn(membersOf(Array.isArray(values) ? values[0] : undefined)['value'])
  }
  const shares = sumOf([count('reposts'), count('quotes')])
  return { likes: count('likes'), comments: count('replies'), shares, views: count('views') }
}

/** Reads whose token it is, and the account's posts, as every look-up does. @throws ProviderError */
export async function describeThreads(credentials: ThreadsCredentials, signal: AbortSignal) {
  const call: Signed = { credentials, signal }
  const { body } = await get(call, `${platform.api}/me`, { fields: 'id,username,name' })
  const [externalId, username] = [idIn(body), textIn(body, 'username')]
  await listPosts(call, postsOf(platform, externalId), 1)
  const name = body['name']
  const displayName = typeof name === 'string' && name !== '' ? name : username
  return { externalId, handle: `@${username}`, displayName, metadata: {} }
}
