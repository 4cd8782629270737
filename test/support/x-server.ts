/** X's API with one account, as far as a client that publishes sees of it. Its documentation says what it refuses. */
import { createHmac, randomBytes } from 'node:crypto'
import { testRedirect } from './oauth-pages.ts'
import type { Answered, Asking, HostedServer, Routes } from './provider-server.ts'
import { startHostedServer } from './provider-server.ts'

interface MadePost {
  readonly id: string
  /** As it was sent. */
  readonly text: string
  readonly mediaIds: string[]
  readonly inReplyTo: string | undefined
  readonly createdAt: Date
}

interface MadeXMedia {
  readonly id: string
  readonly contentType: string
  readonly total: number
  readonly segments: Buffer[]
  altText: string | undefined
  state: 'uploading' | 'pending' | 'failed' | 'succeeded'
  pollsLeft: number
  isAttached: boolean
}

interface XKeys {
  readonly apiKey: string
  readonly apiKeySecret: string
  readonly token: string
  readonly tokenSecret: string
}

export interface XServer extends HostedServer {
  readonly state: {
    keys: XKeys
    username: string
    isReadOnly: boolean
    failsVideos: boolean
    pageMax: number
    /** Text of a post that isn't listed yet. */
    unlisted: string
    /** Each post has these. */
    metrics: Readonly<Record<string, number>>
    /** Text of a post that isn't shown. */
    locked: string
  }
  readonly posts: MadePost[]
  readonly media: MadeXMedia[]
  /** The browser is at the address, and the person agrees. @returns where it is sent */
  agree(address: string): string
}

const xHost = 'https://api.x.com'
export const xUserId = '2244994945'
export const secretOf = ({ apiKey, apiKeySecret, token, tokenSecret }: XKeys) =>
  `${apiKey}\n${apiKeySecret}\n${token}\n${tokenSecret}`

const categories: Readonly<Record<string, string>> = {
  'image/jpeg': 'tweet_image',
  'image/png': 'tweet_image',
  'video/mp4': 'tweet_video',
  'video/quicktime': 'tweet_video',
}
const segmentBytesMax = 5_000_000
const problem = (status: number, title: string, detail: string, type = 'about:blank'): Answered => ({
  status,
  body: { title, detail, type, status },
})
const invalid = (message: string): Answered => ({
  status: 400,
  body: {
    errors: [{ message, parameters: {} }],
    title: 'Invalid Request',
    detail: 'One or more parameters to your request was invalid.',
    type: 'https://api.x.com/2/problems/invalid-request',
  },
})

export async function startX(): Promise<XServer> {
  const posts: MadePost[] = []
  const media: MadeXMedia[] = []
  const nonces = new Set<string>()
  const keys = {
    apiKey: 'Api+Key',
    apiKeySecret: 'api&secret',
    token: `${xUserId}-Token`,
    tokenSecret: 'token~(secret)!',
  }
  const counts = { retweet_count: 0, reply_count: 0, like_count: 0, quote_count: 0 }
  const metrics = { ...counts, bookmark_count: 0, impression_count: 0 }
  const state = {
    keys,
    username: 'shop',
    isReadOnly: false,
    failsVideos: false,
    pageMax: 100,
    unlisted: '',
    metrics,
    locked: '',
  }
  let ids = 1_900_000_000_000_000_000n
  const nextId = () => String(++ids)
  const find = (id: unknown) => media.find((one) => one.id === id)
  const missing = problem(404, 'Not Found Error', 'Could not find the media.')

  function initialize({ json }: Asking): Answered {
    const fault = unknownField(json, ['media_type', 'media_category', 'total_bytes'])
    if (fault !== undefined) return invalid(fault)
    const { media_type: contentType, media_category: category, total_bytes: total } = json
    if (categories[contentType] !== category) return invalid('media_category does not fit media_type')
    if (!Number.isInteger(total) || total < 1) return invalid('total_bytes is not a number')
    const isImage = category === 'tweet_image'
    if (total > (isImage ? 5_000_000 : 512_000_000)) return invalid('File size exceeds the limit')
    const more = { altText: undefined, state: 'uploading' as const, pollsLeft: isImage ? 0 : 1, isAttached: false }
    media.push({ id: nextId(), contentType, total, segments: [], ...more })
    return { status: 200, body: { data: { id: media.at(-1)!.id, media_key: '3_1', expires_after_secs: 86_400 } } }
  }

  function append({ id, form }: Asking): Answered {
    const made = find(id)
    if (made?.state !== 'uploading') return missing
    const { segment_index: index } = form?.fields ?? {}
    if (form?.file?.name !== 'media') return invalid('Missing media field')
    if (!/^\d{1,3}$/.test(index ?? '') || Number(index) !== made.segments.length) return invalid('segment_index')
    if (form.file.bytes.length > segmentBytesMax) return problem(413, 'Payload Too Large', 'Segment too large')
    made.segments.push(form.file.bytes)
    return { status: 200, body: { data: { expires_at: Math.floor(Date.now() / 1000) + 86_400 } } }
  }

  const shownMedia = ({ id, total, state: is, contentType }: MadeXMedia): Answered => {
    const isDone = is === 'succeeded' || is === 'failed'
    const error = { code: 1, name: 'InvalidMedia', message: 'Unsupported video format' }
    const processing = { state: is, ...(is === 'failed' && { error }), ...(!isDone && { check_after_secs: 2 }) }
    const isVideo = contentType.startsWith('video/')
    return { status: 200, body: { data: { id, size: total, ...(isVideo && { processing_info: processing }) } } }
  }

  function finalize({ id, bytes }: Asking): Answered {
    const made = find(id)
    if (made?.state !== 'uploading') return missing
    if (bytes.length > 0) return invalid('A body was not expected')
    const received = made.segments.reduce((sum, one) => sum + one.length, 0)
    if (received !== made.total) return invalid(`${made.total} bytes were announced, ${received} came`)
    made.state = made.pollsLeft > 0 ? 'pending' : 'succeeded'
    return shownMedia(made)
  }

  function readStatus({ query }: Asking): Answered {
    const made = find(query.get('media_id'))
    if (query.get('command') !== 'STATUS') return invalid('command')
    if (made === undefined || made.state === 'uploading') return missing
    if (made.pollsLeft-- === 0) made.state = state.failsVideos ? 'failed' : 'succeeded'
    return shownMedia(made)
  }

  function setMetadata({ json }: Asking): Answered {
    const made = find(json?.id)
    const text = json?.metadata?.alt_text?.text
    if (made === undefined || made.isAttached || !made.contentType.startsWith('image/')) return missing
    if (typeof text !== 'string' || [...text].length > 1000) return invalid('alt_text')
    made.altText = text
    return { status: 200, body: { data: { id: made.id, associated_metadata: json.metadata } } }
  }

  function publish({ json }: Asking): Answered {
    if (state.isReadOnly) {
      const detail = 'Your client app is not configured with the appropriate oauth1 app permissions for this endpoint.'
      return problem(403, 'Forbidden', detail, 'https://api.x.com/2/problems/oauth1-permissions')
    }
    const fault = unknownField(json, ['text', 'media', 'reply'])
    if (fault !== undefined) return invalid(fault)
    const text = String(json.text).trim()
    const mediaIds: string[] = json.media?.media_ids ?? []
    if (text === '' && mediaIds.length === 0) return invalid('text or media is required')
    if ([...text.replace(/https?:\/\/\S+/g, 'x'.repeat(23))].length > 280) {
      return problem(403, 'Forbidden', 'Your post is too long.')
    }
    const attached = mediaIds.map(find)
    if (json.media !== undefined && (mediaIds.length < 1 || mediaIds.length > 4)) return invalid('media_ids')
    if (attached.some((one) => one?.state !== 'succeeded' || one.isAttached))
      return invalid('Your media IDs are invalid.')
    const videos = attached.filter((one) => one!.contentType.startsWith('video/')).length
    if (videos > 0 && attached.length > 1) return invalid('A post has photos, or one video.')
    // It is not known to compare pictures.
    if (mediaIds.length === 0 && posts.some((one) => one.text === text && one.mediaIds.length === 0)) {
      return problem(403, 'Forbidden', 'You are not allowed to create a Tweet with duplicate content.')
    }
    const inReplyTo: string | undefined = json.reply?.in_reply_to_tweet_id
    const parent = posts.find((one) => one.id === inReplyTo)
    if (json.reply !== undefined && parent === undefined) {
      return problem(403, 'Forbidden', 'You attempted to reply to a Tweet that is deleted or not visible to you.')
    }
    for (const one of attached) one!.isAttached = true
    const made = { id: nextId(), text, mediaIds, inReplyTo, createdAt: new Date() }
    posts.push(made)
    return { status: 201, body: { data: { id: made.id, text: shownAs(made, posts).text } } }
  }

  function list({ id, query }: Asking): Answered {
    if (id !== xUserId) return problem(404, 'Not Found Error', 'Could not find user.')
    const most = Number(query.get('max_results') ?? 10)
    const start = query.get('start_time') ?? ''
    if (most < 5 || most > 100) return invalid('max_results is not between 5 and 100')
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(start)) return invalid('start_time')
    const skipped = Number((query.get('pagination_token') ?? 'p0').slice(1))
    const left = query.get('exclude')?.split(',') ?? []
    const isLeft = ({ text, inReplyTo }: MadePost) =>
      left.includes('replies') && (inReplyTo !== undefined || text.startsWith('@'))
    const found = posts
      .filter((one) => one.createdAt >= new Date(start) && one.text !== state.unlisted && !isLeft(one))
      .reverse()
    const page = found.slice(skipped, skipped + Math.min(most, state.pageMax))
    const next = skipped + page.length
    const meta = { result_count: page.length, ...(next < found.length && { next_token: `p${next}` }) }
    return { status: 200, body: { ...(page.length > 0 && { data: page.map((post) => shownAs(post, posts)) }), meta } }
  }

  function lookUp({ query }: Asking): Answered {
    const ids = (query.get('ids') ?? '').split(',')
    if (ids.length > 100 || ids.some((id) => !/^\d{1,19}$/.test(id))) return invalid('ids')
    const found = posts.filter(({ id, text }) => ids.includes(id) && text !== state.locked)
    const isLocked = (id: string) => posts.some((post) => post.id === id)
    const absent = ids.filter((id) => !found.some((post) => post.id === id))
    const errors = absent.map((id) => ({
      value: id,
      resource_id: id,
      resource_type: 'tweet',
      parameter: 'ids',
      detail: 'Could not find tweet.',
      type: `https://api.x.com/2/problems/${isLocked(id) ? 'not-authorized-for-resource' : 'resource-not-found'}`,
    }))
    const isAsked = query.get('tweet.fields') === 'public_metrics'
    const data = found.map(({ id, text }) => ({ id, text, ...(isAsked && { public_metrics: state.metrics }) }))
    return { status: 200, body: { ...(data.length > 0 && { data }), ...(errors.length > 0 && { errors }) } }
  }

  const routes: Routes = {
    'GET /2/tweets': lookUp,
    'GET /2/users/me': () => ({
      status: 200,
      body: { data: { id: xUserId, name: 'The Shop', username: state.username } },
    }),
    'POST /2/media/upload/initialize': initialize,
    'POST /2/media/upload/:id/append': append,
    'POST /2/media/upload/:id/finalize': finalize,
    'GET /2/media/upload': readStatus,
    'POST /2/media/metadata': setMetadata,
    'POST /2/tweets': publish,
    'GET /2/users/:id/tweets': list,
  }
  let requested: { token: string; secret: string; verifier: string } | undefined
  const form = (fields: Record<string, string>): Answered => ({ status: 200, body: `${new URLSearchParams(fields)}` })
  /** The steps of a sign-in, signed by the app alone, or by the request token as well. */
  function giveRequestToken(asking: Asking): Answered {
    const fields = signedFields(asking, roots(), { ...state.keys, token: undefined, tokenSecret: '' }, nonces)
    if (fields?.['oauth_callback'] !== testRedirect) return problem(401, 'Unauthorized', 'Unauthorized')
    requested = { token: randomBytes(20).toString('base64url'), secret: 'request secret', verifier: '' }
    const { token, secret } = requested
    return form({ oauth_token: token, oauth_token_secret: secret, oauth_callback_confirmed: 'true' })
  }
  function giveAccessToken(asking: Asking): Answered {
    const { token = '', secret = '', verifier = '' } = requested ?? {}
    requested = undefined
    const fields = signedFields(asking, roots(), { ...state.keys, token, tokenSecret: secret }, nonces)
    const isGranted = verifier !== '' && fields?.['oauth_verifier'] === verifier
    if (!isGranted) return problem(401, 'Unauthorized', 'Unauthorized')
    return form({ oauth_token: state.keys.token, oauth_token_secret: state.keys.tokenSecret, user_id: xUserId })
  }
  function agree(address: string): string {
    const url = new URL(address)
    const token = url.searchParams.get('oauth_token')
    if (url.origin + url.pathname !== `${xHost}/oauth/authorize` || token !== requested?.token) throw new Error(address)
    requested!.verifier = randomBytes(10).toString('hex')
    return `${testRedirect}?${new URLSearchParams({ oauth_token: token!, oauth_verifier: requested!.verifier })}`
  }

  const roots = () => [server.url, xHost]
  const signed = (route: Routes[string]) => (asking: Asking) =>
    signedFields(asking, roots(), state.keys, nonces) ? route!(asking) : problem(401, 'Unauthorized', 'Unauthorized')
  const server: HostedServer = await startHostedServer(
    { hosts: /^https:\/\/api\.x\.com$/ },
    {
      ...Object.fromEntries(Object.entries(routes).map(([step, route]) => [step, signed(route)])),
      'POST /oauth/request_token': giveRequestToken,
      'POST /oauth/access_token': giveAccessToken,
    },
  )
  return Object.assign(server, { state, posts, media, agree })
}

function unknownField(json: Record<string, unknown> | undefined, known: readonly string[]): string | undefined {
  if (json === undefined) return 'The body is not JSON'
  return Object.keys(json).find((name) => !known.includes(name))
}

type Signing = Omit<XKeys, 'token'> & { readonly token: string | undefined }

/** RFC 5849, 3.4: what is signed is read back out of the request as it came. @returns its fields, where the signature is right */
function signedFields(
  { step, id, query, headers }: Asking,
  roots: readonly string[],
  keys: Signing,
  nonces: Set<string>,
): Record<string, string> | undefined {
  const [scheme, fields = ''] = (headers['authorization'] ?? '').split(/ (.*)/s)
  const sent: Record<string, string> = Object.fromEntries(
    fields.split(', ').map((field) => {
      const [name, value] = field.split(/="|"$/)
      return [name!, decodeURIComponent(value ?? '')]
    }),
  )
  const { oauth_signature: signature, ...own } = sent as Record<string, string>
  const { oauth_nonce: nonce = '', oauth_timestamp: timestamp, oauth_version: version } = own
  if (scheme !== 'OAuth' || own['oauth_consumer_key'] !== keys.apiKey || own['oauth_token'] !== keys.token)
    return undefined
  if (version !== '1.0' || own['oauth_signature_method'] !== 'HMAC-SHA1') return undefined
  if (Math.abs(Number(timestamp) - Date.now() / 1000) > 300 || nonce === '' || nonces.has(nonce)) return undefined
  nonces.add(nonce)
  const percentEncode = (text: string) =>
    [...Buffer.from(text)]
      .map((byte) => (/[\w.~-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `%${hex(byte)}`))
      .join('')
  const hex = (byte: number) => byte.toString(16).toUpperCase().padStart(2, '0')
  const pairs = [...Object.entries(own), ...query].map(
    ([name, value]) => [percentEncode(name), percentEncode(value)] as const,
  )
  pairs.sort(([a], [b]) => (a < b ? -1 : 1))
  const [method, path] = step.split(' ') as [string, string]
  const signedPairs = pairs.map((pair) => pair.join('=')).join('&')
  const key = `${percentEncode(keys.apiKeySecret)}&${percentEncode(keys.tokenSecret)}`
  const isRight = roots.some((root) => {
    const parts = [method, root + path.replace(':id', id), signedPairs].map(percentEncode)
    return createHmac('sha1', key).update(parts.join('&')).digest('base64') === signature
  })
  return isRight ? own : undefined
}

/**
 * Links become short ones, and the post's own media another, behind the text; three signs are escaped. A reply is addressed
 * to the accounts that its parent mentions.
 */
function shownAs({ id, text, mediaIds, inReplyTo, createdAt }: MadePost, posts: readonly MadePost[]) {
  const urls: object[] = []
  const shorten = (expanded: string, more: object = {}) => {
    const url = `https://t.co/${id.slice(-4)}${String(urls.length).padStart(6, 'A')}`
    urls.push({ url, expanded_url: expanded, display_url: expanded.replace(/^https?:\/\//, ''), ...more })
    return url
  }
  const shortened = text
    .normalize('NFC')
    .replace(/(?:https?:\/\/)?[\w-]+(?:\.[\w-]+)*\.(?:com|org)\b(?:[/?#][^\s”]*[^\s”.,!)])?/gi, (found) =>
      shorten(/^https?:/i.test(found) ? found : `http://${found}`),
    )
    .replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;' })[sign] ?? '&gt;')
  const own = mediaIds.map((media, at) =>
    at === 0 ? ` ${shorten(`https://x.com/shop/status/${id}/photo/1`, { media_key: `3_${media}` })}` : '',
  )
  const mentioned = posts.find((one) => one.id === inReplyTo)?.text.match(/@\w+/g) ?? []
  const addressed = mentioned.map((handle) => `${handle} `).join('')
  return {
    id,
    text: addressed + shortened + own.join(''),
    ...(inReplyTo && { referenced_tweets: [{ type: 'replied_to', id: inReplyTo }] }),
    created_at: createdAt.toISOString(),
    ...(urls.length > 0 && { entities: { urls } }),
  }
}
