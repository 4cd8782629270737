/**
 * LinkedIn with one member, who has one page, as far as an app that publishes sees of it. While it runs, requests of this
 * process to LinkedIn's hosts come here, as they would go out.
 */
import { makeOAuthPages, type OAuthPages, testRedirect } from './oauth-pages.ts'
import { type Answered, type Asking, type HostedServer, startHostedServer } from './provider-server.ts'

export const linkedinToken = 'AQX-token-of-the-member'
export const linkedinApp = { refresh_token: 'AQY-refresh', client_id: '77app', client_secret: 'WPL.secret==' }
export const member = { sub: '782bbtaQ', name: 'Ada Shop', urn: 'urn:li:person:782bbtaQ' }
export const pageUrn = 'urn:li:organization:5583111'

interface MadePost {
  readonly id: string
  readonly author: string
  /** As people read it. */
  readonly text: string
  readonly hashtags: string[]
  // biome-ignore lint/suspicious/noExplicitAny: it is what a client sent
  readonly content: any
  readonly commentary: string
  readonly createdAt: number
}

interface MadeComment {
  readonly id: string
  readonly commentUrn: string
  readonly actor: string
  readonly object: string
  readonly message: { readonly text: string }
  readonly created: { readonly time: number }
}

interface Asset {
  readonly owner: string
  readonly bytesMax: number
  readonly parts: (Buffer | undefined)[]
  isReady: boolean
  pollsLeft: number
}

export interface LinkedinServer extends HostedServer {
  readonly state: {
    token: string
    refreshToken: string
    scopes: string[]
    uploadUrl: string
    canPlay: boolean
    /** Reactions of each post by their kind, and its comments. */
    reactions: Readonly<Record<string, number>>
    comments: number
    /** Nothing listens at its hosts. */
    isAway: boolean
  }
  readonly posts: MadePost[]
  readonly comments: MadeComment[]
  /** The bytes that were sent for an image or a video. */
  bytesOf(urn: string): Buffer
  /** Where somebody agrees to the app. */
  readonly signIn: OAuthPages
}

const allScopes = [
  'openid',
  'profile',
  'w_member_social',
  'w_organization_social',
  'r_organization_social',
  'w_member_social_feed',
  'w_organization_social_feed',
  'r_organization_social_feed',
]
/** The real one has 4 MiB. */
const partBytes = 100_000
const refused = (status: number, code: string, message: string): Answered => ({
  status,
  body: { status, code, message, serviceErrorCode: status === 401 ? 65600 : 100 },
})
const notAllowed = (what: string) => refused(403, 'ACCESS_DENIED', `Not enough permissions to access: ${what}`)
const invalid = (message: string) => refused(422, 'UNPROCESSABLE_ENTITY', message)

export async function startLinkedin(): Promise<LinkedinServer> {
  const state = {
    token: linkedinToken,
    refreshToken: linkedinApp.refresh_token,
    scopes: [...allScopes, 'r_organization_admin'],
    uploadUrl: 'https://www.linkedin.com/dms-uploads',
    canPlay: true,
    isAway: false,
    reactions: {} as Readonly<Record<string, number>>,
    comments: 0,
  }
  const posts: MadePost[] = []
  const comments: MadeComment[] = []
  const assets = new Map<string, Asset>()
  const uploads: { asset: Asset; part: number; bytes: number }[] = []
  let made = 0

  const has = (scope: string) => state.scopes.includes(scope)
  const mayPostAs = (author: unknown) =>
    (author === member.urn && has('w_member_social')) || (author === pageUrn && has('w_organization_social'))

  /** The refusal of who isn't signed in or names no version, or what `route` answers. */
  const signedIn = (host: string, route: (asking: Asking) => Answered) => (asking: Asking) => {
    const { headers, token } = asking
    if (headers['host'] !== host) return { status: 404, body: '' }
    if (token !== state.token) return refused(401, 'INVALID_ACCESS_TOKEN', 'Invalid access token')
    if (asking.step.includes(' /rest/')) {
      const version = headers['linkedin-version']
      if (version === undefined) return refused(400, 'VERSION_MISSING', 'A version must be present')
      if (version < '202511' || version > '202611') {
        return refused(426, 'NONEXISTENT_VERSION', `Requested version ${version} is not active`)
      }
      if (headers['x-restli-protocol-version'] !== '2.0.0') return refused(400, 'BAD_REQUEST', 'Protocol version')
    }
    return route(asking)
  }

  function addAsset(kind: 'image' | 'video', owner: string, sizes: number[]) {
    made += 1
    const asset: Asset = {
      owner,
      bytesMax: Math.max(...sizes),
      parts: sizes.map(() => undefined),
      isReady: false,
      pollsLeft: kind === 'video' ? 1 : 0,
    }
    const urn = `urn:li:${kind}:C5${made}`
    assets.set(urn, asset)
    const urls = sizes.map((bytes, part) => `${state.uploadUrl}/${100 + uploads.push({ asset, part, bytes })}`)
    return { urn, urls }
  }

  function initialize(kind: 'image' | 'video', { json }: Asking): Answered {
    const { owner, fileSizeBytes, ...others } = json?.initializeUploadRequest ?? {}
    if (!mayPostAs(owner)) return notAllowed(`partnerApi${kind}s.ACTION-initializeUpload`)
    if (kind === 'image') {
      if (Object.keys(others).length > 0) return refused(400, 'BAD_REQUEST', 'unrecognized field')
      const { urn, urls } = addAsset(kind, owner, [36_152_320])
      return { status: 200, body: { value: { uploadUrlExpiresAt: 1, uploadUrl: urls[0], image: urn } } }
    }
    if (!(fileSizeBytes > 0)) return refused(400, 'BAD_REQUEST', 'fileSizeBytes is required')
    const starts = Array.from({ length: Math.ceil(fileSizeBytes / partBytes) }, (_, at) => at * partBytes)
    const lasts = starts.map((first) => Math.min(first + partBytes, fileSizeBytes) - 1)
    const { urn, urls } = addAsset(
      kind,
      owner,
      starts.map((first, at) => lasts[at]! - first + 1),
    )
    const uploadInstructions = urls.map((uploadUrl, at) => ({
      uploadUrl,
      firstByte: starts[at],
      lastByte: lasts[at],
    }))
    return { status: 200, body: { value: { video: urn, uploadToken: '', uploadInstructions } } }
  }

  function putPart({ id, bytes, headers }: Asking): Answered {
    const { asset, part, bytes: size } = uploads[Number(id) - 101]!
    if (headers['content-length'] !== String(bytes.length)) return { status: 411, body: '' }
    if (asset.pollsLeft > 0 ? bytes.length !== size : bytes.length > size) return { status: 400, body: '' }
    asset.parts[part] = bytes
    asset.isReady = asset.pollsLeft === 0
    return { status: 201, body: '', headers: { etag: `/ambry-video/signedId/${id}` } }
  }

  function finalize({ json }: Asking): Answered {
    const { video, uploadToken, uploadedPartIds } = json?.finalizeUploadRequest ?? {}
    const asset = assets.get(video)
    if (asset === undefined || uploadToken !== '') return refused(400, 'BAD_REQUEST', 'video')
    const ids = asset.parts.map((_, part) => {
      return `/ambry-video/signedId/${101 + uploads.findIndex((one) => one.asset === asset && one.part === part)}`
    })
    const isWhole = asset.parts.every((part) => part !== undefined)
    if (!isWhole || String(uploadedPartIds) !== String(ids)) return refused(400, 'BAD_REQUEST', 'uploadedPartIds')
    asset.isReady = true
    return { status: 200, body: '' }
  }

  function showVideo({ id }: Asking): Answered {
    const asset = assets.get(id)
    if (asset === undefined) return refused(404, 'NOT_FOUND', 'Not found')
    const done = asset.pollsLeft-- > 0 ? 'PROCESSING' : 'AVAILABLE'
    const status = state.canPlay ? done : 'PROCESSING_FAILED'
    return {
      status: 200,
      body: { id, status, ...(!state.canPlay && { processingFailureReason: 'Unsupported codec' }) },
    }
  }

  /** A file that its author owns, and that is there as a whole. */
  function canShow(urn: unknown, kind: 'image' | 'video', author: string): boolean {
    const asset = assets.get(String(urn))
    return String(urn).startsWith(`urn:li:${kind}:`) && asset?.owner === author && asset.isReady && asset.pollsLeft <= 0
  }

  function faultOf({ author, content }: Asking['json']): string | null {
    if (content === undefined) return null
    const { media, multiImage, article, ...others } = content
    if (Object.keys(others).length > 0 || Object.keys(content).length !== 1) return 'content'
    if (article !== undefined) {
      if (!URL.canParse(article.source) || !article.title || article.title.length > 400) return 'article'
      return article.thumbnail === undefined || canShow(article.thumbnail, 'image', author) ? null : 'thumbnail'
    }
    const images = multiImage?.images ?? []
    if (multiImage !== undefined && (images.length < 2 || images.length > 20)) return 'multiImage'
    for (const { id, altText, ...more } of media === undefined ? images : [media]) {
      const isVideo = media !== undefined && canShow(id, 'video', author)
      if (!isVideo && !canShow(id, 'image', author)) return `${id} can't be shown`
      if (Object.keys(more).length > 0 || altText === '' || altText?.length > 4086) return 'altText'
      if (isVideo && altText !== undefined) return 'altText of a video'
    }
    return null
  }

  function publish({ json }: Asking): Answered {
    const {
      author,
      commentary,
      visibility,
      distribution,
      lifecycleState,
      content,
      isReshareDisabledByAuthor,
      ...others
    } = json ?? {}
    if (Object.keys(others).length > 0) return refused(400, 'BAD_REQUEST', `unrecognized field ${Object.keys(others)}`)
    if (!mayPostAs(author)) return notAllowed('partnerApiPostsExternal.CREATE')
    const isAsDocumented =
      visibility === 'PUBLIC' && distribution?.feedDistribution === 'MAIN_FEED' && lifecycleState === 'PUBLISHED'
    if (typeof commentary !== 'string' || !isAsDocumented) return invalid('ERROR :: required field')
    const { text, hashtags } = readLittle(commentary)
    if ([...text].length > 3000) return refused(400, 'FIELD_LENGTH_TOO_LONG', 'commentary')
    const fault = faultOf(json)
    if (fault !== null) return invalid(`ERROR :: /content :: ${fault}`)
    const same = (one: MadePost) => JSON.stringify([one.author, one.commentary, one.content])
    const post = { author, text, hashtags, content, commentary, createdAt: Date.now(), id: '' }
    const first = posts.find((one) => same(one) === same(post))
    if (first !== undefined) {
      const message = `com.linkedin.content.common.exception.BadRequestResponseException: Content is a duplicate of ${first.id}`
      const inputErrors = [{ description: 'Duplicate post is detected', input: {}, code: 'DUPLICATE_POST' }]
      return { status: 422, body: { status: 422, message, errorDetails: { inputErrors } } }
    }
    made += 1
    const id = `urn:li:share:${(BigInt(post.createdAt) << 22n) + BigInt(made)}`
    posts.push({ ...post, id })
    return { status: 201, body: '', headers: { 'x-restli-id': id } }
  }

  function comment({ id: under, json }: Asking): Answered {
    const { actor, object, message, ...others } = json ?? {}
    if (Object.keys(others).length > 0) return refused(400, 'BAD_REQUEST', `unrecognized field ${Object.keys(others)}`)
    const isAllowed =
      (actor === member.urn && has('w_member_social_feed')) || (actor === pageUrn && has('w_organization_social_feed'))
    if (!isAllowed) return notAllowed('partnerApiSocialActions.CREATE-comments')
    if (object !== under || !posts.some(({ id }) => id === under)) return refused(404, 'NOT_FOUND', 'Not found')
    const text = message?.text
    if (typeof text !== 'string' || text.trim() === '' || [...text].length > 1250) return invalid('ERROR :: /message')
    made += 1
    const created = { time: Date.now() }
    const id = String((BigInt(created.time) << 22n) + BigInt(made))
    const commentUrn = `urn:li:comment:(urn:li:activity:${under.split(':').at(-1)},${id})`
    comments.push({ id, commentUrn, actor, object, message: { text }, created })
    return { status: 201, body: comments.at(-1), headers: { 'x-restli-id': id } }
  }

  function listComments({ id, query }: Asking): Answered {
    const isOfPage = posts.some((post) => post.id === id && post.author === pageUrn)
    if (!isOfPage || !has('r_organization_social_feed')) return notAllowed('partnerApiSocialActions.GET-comments')
    const elements = comments.filter(({ object }) => object === id).slice(0, Number(query.get('count') ?? 10))
    return { status: 200, body: { paging: { start: 0, links: [] }, elements } }
  }

  /** Answers a batch: each post is found, or has an error of its own. */
  function readMetadata({ query }: Asking): Answered {
    if (!has('r_organization_social_feed')) return notAllowed('socialMetadata.BATCH_GET')
    const [, list] = /^List\((urn:li:[^()]+)\)$/.exec(query.get('ids') ?? '') ?? []
    if (list === undefined) return refused(400, 'ILLEGAL_ARGUMENT', 'ids')
    const ids = list.split(',')
    const isThere = (id: string) => posts.some((post) => post.id === id && post.author === pageUrn)
    const reactionSummaries = Object.fromEntries(
      Object.entries(state.reactions).map(([reactionType, count]) => [reactionType, { reactionType, count }]),
    )
    const commentSummary = { count: state.comments, topLevelCount: state.comments }
    const found = ids.filter(isThere).map((id) => [id, { entity: id, reactionSummaries, commentSummary }])
    const errors = ids.filter((id) => !isThere(id)).map((id) => [id, { status: 404, message: 'Not found' }])
    const [results, gone] = [Object.fromEntries(found), Object.fromEntries(errors)]
    return { status: 200, body: { results, statuses: {}, errors: gone } }
  }

  function listPosts({ query, headers }: Asking): Answered {
    const author = query.get('author')
    if (query.get('q') !== 'author' || headers['x-restli-method'] !== 'FINDER') return refused(400, 'BAD_REQUEST', 'q')
    if (author !== pageUrn || !has('r_organization_social')) return notAllowed('partnerApiPostsExternal.FINDER-author')
    const count = Number(query.get('count') ?? 10)
    if (count > 100) return refused(400, 'BAD_REQUEST', 'count')
    const own = posts.filter((one) => one.author === author).reverse()
    const elements = own.slice(0, count).map(({ id, commentary, createdAt }) => {
      // Long links are shortened, and the text's end is trimmed.
      const shown = commentary.replace(/https?:\S{20,}/g, 'https://lnkd.in/e\\_Xy').trim()
      return { id, author, createdAt, commentary: shown, lifecycleState: 'PUBLISHED' }
    })
    return { status: 200, body: { paging: { start: 0, count, links: [] }, elements } }
  }

  const signIn = makeOAuthPages({
    page: () => 'https://www.linkedin.com/oauth/v2/authorization',
    apps: new Map([[linkedinApp.client_id, { secret: linkedinApp.client_secret, redirect: testRedirect }]]),
    scopes: [...allScopes, 'r_organization_admin'],
    tokens: (scope) => ({
      access_token: state.token,
      expires_in: 5_184_000,
      refresh_token: state.refreshToken,
      scope: scope.replaceAll(' ', ','),
    }),
  })

  function listRoles({ query, headers }: Asking): Answered {
    if (query.get('q') !== 'roleAssignee' || headers['x-restli-method'] !== 'FINDER')
      return refused(400, 'BAD_REQUEST', 'q')
    if (!has('r_organization_admin')) return notAllowed('organizationAcls.FINDER-roleAssignee')
    const role = (organization: string, role: string) => ({
      organization,
      role,
      roleAssignee: member.urn,
      state: 'APPROVED',
    })
    const elements = [role(pageUrn, 'ADMINISTRATOR'), role('urn:li:organization:77', 'ANALYST')]
    return { status: 200, body: { paging: { start: 0, count: 10, links: [] }, elements } }
  }

  function renewToken(asking: Asking): Answered {
    const exchanged = signIn.exchange(asking)
    if (exchanged !== undefined) return exchanged
    const { headers, bytes } = asking
    const sent = Object.fromEntries(new URLSearchParams(bytes.toString()))
    if (headers['host'] !== 'www.linkedin.com' || headers['content-type'] !== 'application/x-www-form-urlencoded') {
      return { status: 404, body: '' }
    }
    const { refresh_token, client_id, client_secret } = { ...linkedinApp, refresh_token: state.refreshToken }
    if (sent['client_id'] !== client_id || sent['client_secret'] !== client_secret) {
      return { status: 401, body: { error: 'invalid_client', error_description: 'Client authentication failed' } }
    }
    if (sent['grant_type'] !== 'refresh_token' || sent['refresh_token'] !== refresh_token) {
      const error_description = 'The provided authorization grant or refresh token is invalid, expired or revoked.'
      return { status: 400, body: { error: 'invalid_request', error_description } }
    }
    return { status: 200, body: { access_token: state.token, expires_in: 5_184_000, refresh_token } }
  }

  const api = (route: (asking: Asking) => Answered) => signedIn('api.linkedin.com', route)
  const hosting = { hosts: /^https:\/\/(api|www)\.linkedin\.com$/, isAway: () => state.isAway }
  const server = await startHostedServer(hosting, {
    'GET /v2/userinfo': api(() => {
      if (!has('openid') || !has('profile')) return notAllowed('userinfo.GET.NO_VERSION')
      return { status: 200, body: { sub: member.sub, name: member.name, locale: { country: 'US' } } }
    }),
    'GET /rest/organizations/:id': api(({ id }) => {
      if (!has('r_organization_admin')) return notAllowed('organizations.GET')
      return { status: 200, body: { id: Number(id), vanityName: 'the-shop', localizedName: 'The Shop' } }
    }),
    'GET /rest/organizationAcls': api(listRoles),
    'GET /rest/organizations': api(({ query }) => {
      if (query.get('ids') !== 'List(5583111)') return refused(400, 'BAD_REQUEST', 'ids')
      return { status: 200, body: { results: { 5583111: { id: 5583111, localizedName: 'The Shop' } }, errors: {} } }
    }),
    'POST /rest/images': api((asking) => initialize('image', asking)),
    'POST /rest/videos': api((asking) =>
      asking.query.get('action') === 'finalizeUpload' ? finalize(asking) : initialize('video', asking),
    ),
    'GET /rest/videos/:id': api(showVideo),
    'PUT /dms-uploads/:id': signedIn('www.linkedin.com', putPart),
    'POST /rest/posts': api(publish),
    'GET /rest/posts': api(listPosts),
    'POST /rest/socialActions/:id/comments': api(comment),
    'GET /rest/socialActions/:id/comments': api(listComments),
    'GET /rest/socialMetadata': api(readMetadata),
    'POST /oauth/v2/accessToken': renewToken,
  })
  return Object.assign(server, {
    state,
    posts,
    comments,
    signIn,
    bytesOf: (urn: string) => Buffer.concat(assets.get(urn)!.parts.map((part) => part!)),
  })
}

/** The text ends, without an error, where a reserved character stands alone. */
function readLittle(little: string): { text: string; hashtags: string[] } {
  const hashtags: string[] = []
  let [text, at] = ['', 0]
  while (at < little.length) {
    const rest = little.slice(at)
    const template = /^\{hashtag\|\\?([#＃])\|((?:\\.|[^\\|{}])+)\}/.exec(rest)
    if (template !== null) {
      const word = template[2]!.replace(/\\(.)/g, '$1')
      hashtags.push(word)
      text += template[1]! + word
      at += template[0].length
      continue
    }
    const isEscape = rest.startsWith('\\')
    if (!isEscape && /^[|{}@[\]()<>#*_~]/.test(rest)) break
    text += isEscape ? rest[1] : rest[0]
    at += isEscape ? 2 : 1
  }
  return { text, hashtags }
}
