/**
 * Threads, by a long-lived access token of the account (Meta's documentation: "Threads API: Posts", "Long-Lived Access
 * Tokens"). It holds for 60 days. It can be renewed while it holds and is a day old, so it is renewed ahead of its end.
 */
import { threadsRenewMs } from '../../schemas/limits/publish-limits.ts'
import { type Adapter, ProviderError } from './adapter.ts'
import { get, idIn, listPosts, type MetaCredentials, type Signed } from './meta-api.ts'
import { type ContainerPlatform, containerAdapter, postsOf } from './meta-containers.ts'
import { askProvider, textIn } from './request.ts'

const host = 'https://graph.threads.net'

const platform: ContainerPlatform = {
  ...{ name: 'threads', label: 'Threads', api: `${host}/v1.0`, edge: 'threads', publishEdge: 'threads_publish' },
  ...{ text: 'text', status: 'status', reason: 'error_message', profile: 'https://www.threads.com/@' },
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

  isDue: ({ renewedAt }) => Date.now() - renewedAt > threadsRenewMs,

  async refresh({ credentials: { accessToken }, signal }) {
    const query = new URLSearchParams({ grant_type: 'th_refresh_token', access_token: accessToken })
    try {
      const { body } = await askProvider({ url: `${host}/refresh_access_token?${query}`, signal })
      return { accessToken: textIn(body, 'access_token'), renewedAt: Date.now() }
    } catch (error) {
      // It is over, or too young: it stays the one that there is.
      if (error instanceof ProviderError && error.failure.kind === 'permanent') return null
      throw error
    }
  },
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
