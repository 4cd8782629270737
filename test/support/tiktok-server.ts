/** TikTok's sign-in, its Content Posting API, and its upload servers, as far as a client that posts sees of them, at their own hosts. */
import { makeOAuthPages, type OAuthPages, testRedirect } from './oauth-pages.ts'
import { type Answered, type Asking, type HostedServer, startHostedServer } from './provider-server.ts'

export const tiktokApp = { client_key: 'awx1', client_secret: 'tt-secret' }

interface TiktokPost {
  readonly publishId: string
  // biome-ignore lint/suspicious/noExplicitAny: it is what a client sent
  readonly info: any
  readonly upload: { readonly size: number; readonly chunk: number; readonly count: number }
  /** The bytes of the video that are there. */
  received: Buffer
  /** How often its status is asked for before it is known. */
  pollsLeft: number
  failReason: string | undefined
  postId: string | undefined
}

/** An account, with what a test makes of it. */
export interface TiktokCreator {
  readonly openId: string
  readonly username: string
  readonly nickname: string
  accessToken: string
  refreshToken: string
  hasScope: boolean
  isAudited: boolean
  levels: string[]
  /** Why its next posts fail. */
  failReasons: string[]
  /** How often a new post's status is asked for before it is known. */
  polls: number
  /** Its posts, there or not. */
  readonly begun: TiktokPost[]
  /** Those that are there. */
  posts(): TiktokPost[]
}

export interface TiktokServer extends HostedServer {
  addCreator(): TiktokCreator
  /** Whose a request is: by its token, or the address of an upload. */
  creatorOf(asking: Asking): TiktokCreator | undefined
  /** Where somebody agrees to the app: for the first account. */
  readonly signIn: OAuthPages
}

const uploadHost = 'open-upload.tiktokapis.com'
const apiHost = 'open.tiktokapis.com'
const mega = 1_000_000
/** More than a double holds, as the real ones are. */
const firstPostId = 7_412_345_678_901_234_561n
const levels = ['PUBLIC_TO_EVERYONE', 'MUTUAL_FOLLOW_FRIENDS', 'SELF_ONLY']

export function tiktokError(status: number, code: string, message = 'See the guidelines.'): Answered {
  return { status, body: { data: {}, error: { code, message, log_id: '2026' } } }
}
const invalid = (message: string) => tiktokError(400, 'invalid_param', message)
const isWhole = ({ received, upload }: TiktokPost) => received.length === upload.size
const okError = '"error":{"code":"ok","message":"","log_id":"2026"}'
/** @param data JSON: ids of posts are numbers that JavaScript can't write */
const okText = (data: string): Answered => ({ status: 200, body: `{"data":${data},${okError}}` })
const ok = (data: object) => okText(JSON.stringify(data))

export async function startTiktok(): Promise<TiktokServer> {
  const creators: TiktokCreator[] = []
  let made = 0

  function addCreator(): TiktokCreator {
    const begun: TiktokPost[] = []
    const name = `shop${++made}`
    const creator: TiktokCreator = {
      openId: `-000${name}`,
      username: name,
      nickname: `The ${name}`,
      hasScope: true,
      accessToken: `act.${name}`,
      refreshToken: `rft.${name}`,
      isAudited: true,
      levels: [...levels],
      failReasons: [],
      polls: 0,
      begun,
      posts: () => begun.filter((post) => isWhole(post) && post.failReason === undefined),
    }
    creators.push(creator)
    return creator
  }

  const uploadOf = ({ query }: Asking) => query.get('upload_id')
  const creatorOf = (asking: Asking) =>
    creators.find(({ accessToken, begun }) =>
      asking.token === undefined
        ? begun.some(({ publishId }) => publishId === uploadOf(asking))
        : accessToken === asking.token,
    )

  const signIn = makeOAuthPages({
    page: () => 'https://www.tiktok.com/v2/auth/authorize/',
    apps: new Map([[tiktokApp.client_key, { secret: tiktokApp.client_secret, redirect: testRedirect }]]),
    scopes: ['user.info.basic', 'video.publish'],
    separator: ',',
    idField: 'client_key',
    tokens: (scope) => ({ access_token: creators[0]!.accessToken, refresh_token: creators[0]!.refreshToken, scope }),
  })

  function giveToken(asking: Asking): Answered {
    const exchanged = signIn.exchange(asking)
    if (exchanged !== undefined) return exchanged
    const { bytes, headers } = asking
    const { grant_type, client_key, client_secret, refresh_token, ...others } = Object.fromEntries(
      new URLSearchParams(bytes.toString()),
    )
    const isForm = headers['content-type'] === 'application/x-www-form-urlencoded' && headers['host'] === apiHost
    const refuse = (status: number, error: string, error_description: string): Answered => ({
      status,
      body: { error, error_description, log_id: '2026' },
    })
    if (!isForm || grant_type !== 'refresh_token' || Object.keys(others).length > 0) {
      return refuse(400, 'invalid_request', 'The request is malformed.')
    }
    if (client_key !== tiktokApp.client_key || client_secret !== tiktokApp.client_secret) {
      return refuse(401, 'invalid_client', 'Client key or secret is incorrect.')
    }
    const creator = creators.find(({ refreshToken }) => refreshToken === refresh_token)
    // So it refuses tokens that were used before.
    if (creator === undefined) return refuse(200, 'invalid_grant', 'Refresh token is invalid or expired.')
    made++
    creator.accessToken = `act.${made}`
    creator.refreshToken = `rft.${made}`
    const tokens = { access_token: creator.accessToken, refresh_token: creator.refreshToken, token_type: 'Bearer' }
    const ends = { expires_in: 7200, refresh_expires_in: 15_552_000 }
    return {
      status: 200,
      body: { ...tokens, ...ends, open_id: creator.openId, scope: 'user.info.basic,video.publish' },
    }
  }

  const showCreator = (_: Asking, { username, nickname, levels }: TiktokCreator) =>
    ok({
      creator_username: username,
      creator_nickname: nickname,
      creator_avatar_url: 'https://x',
      privacy_level_options: levels,
      comment_disabled: false,
      duet_disabled: true,
      stitch_disabled: false,
      max_video_post_duration_sec: 300,
    })

  const fields = [
    'title',
    'privacy_level',
    'disable_comment',
    'disable_duet',
    'disable_stitch',
    'brand_content_toggle',
    'brand_organic_toggle',
  ]

  function begin({ json }: Asking, creator: TiktokCreator): Answered {
    const { post_info: info, source_info: source, ...others } = json ?? {}
    const unknown = Object.keys({ ...info, ...others }).filter((name) => !fields.includes(name))
    if (unknown.length > 0 || source?.source !== 'FILE_UPLOAD') return invalid(`source_info ${unknown}`)
    if (typeof info?.brand_content_toggle !== 'boolean') return invalid('brand_content_toggle')
    if (!creator.levels.includes(info.privacy_level)) return tiktokError(403, 'privacy_level_option_mismatch')
    if (!creator.isAudited && info.privacy_level !== 'SELF_ONLY') {
      return tiktokError(403, 'unaudited_client_can_only_post_to_private_accounts')
    }
    if (info.title.length > 2200) return invalid('title')
    if (info.disable_duet !== true) return invalid('the account forbids duets')
    const { video_size: size, chunk_size: chunk, total_chunk_count: count } = source
    const isSingle = count === 1 && chunk === size && size <= 64 * mega
    const isChunked = chunk >= 5 * mega && chunk <= 64 * mega && count === Math.floor(size / chunk) && count <= 1000
    if (!(size > 0 && size <= 4000 * mega) || !(isSingle || isChunked)) return invalid('The chunk size is invalid')
    const publish_id = `v_pub_file~v2-1.${++made}`
    creator.begun.push({
      publishId: publish_id,
      info,
      upload: { size, chunk, count },
      received: Buffer.alloc(0),
      pollsLeft: creator.polls,
      failReason: creator.failReasons.shift(),
      postId: undefined,
    })
    const upload_url = `https://${uploadHost}/video/?upload_id=${publish_id}&upload_token=Xza123`
    return ok({ publish_id, upload_url })
  }

  /** The storage wants each chunk in its turn, and no token. */
  function receive(asking: Asking): Answered {
    const { query, headers, bytes } = asking
    const post = creatorOf(asking)?.begun.find(({ publishId }) => publishId === uploadOf(asking))
    if (headers['host'] !== uploadHost || headers['authorization'] !== undefined || post === undefined)
      return { status: 404 }
    if (query.get('upload_token') !== 'Xza123') return { status: 403 }
    const { size, chunk, count } = post.upload
    const [, first, last, whole] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers['content-range'] ?? '') ?? []
    if (Number(whole) !== size || bytes.length !== Number(last) - Number(first) + 1) return { status: 400 }
    if (!/^video\/(mp4|quicktime)$/.test(headers['content-type'] ?? '')) return { status: 400 }
    if (Number(first) !== post.received.length) return { status: 416 }
    const isLast = Number(first) === (count - 1) * chunk
    if (bytes.length !== (isLast ? size - Number(first) : chunk)) return { status: 400 }
    post.received = Buffer.concat([post.received, bytes])
    return { status: isLast ? 201 : 206, headers: { 'content-range': `bytes 0-${last}/${size}` } }
  }

  function showStatus({ json }: Asking, { begun }: TiktokCreator): Answered {
    const post = begun.find(({ publishId }) => publishId === json?.publish_id)
    if (post === undefined) return tiktokError(400, 'invalid_publish_id', 'The publish_id does not exist')
    const bytes = { uploaded_bytes: post.received.length }
    if (!isWhole(post) || post.pollsLeft-- > 0) return ok({ status: 'PROCESSING_UPLOAD', ...bytes })
    if (post.failReason !== undefined) return ok({ status: 'FAILED', fail_reason: post.failReason, ...bytes })
    const isPublic = post.info.privacy_level === 'PUBLIC_TO_EVERYONE'
    post.postId ??= String(firstPostId + BigInt(++made))
    const ids = isPublic ? `[${post.postId}]` : '[]'
    return okText(`{"status":"PUBLISH_COMPLETE","publicaly_available_post_id":${ids}}`)
  }

  type Route = (asking: Asking, creator: TiktokCreator) => Answered
  const signedIn = (route: Route) => (asking: Asking) => {
    if (asking.headers['host'] !== apiHost) return { status: 404, body: '' }
    const creator = creatorOf(asking)
    if (creator !== undefined && asking.token !== undefined) return route(asking, creator)
    return tiktokError(401, 'access_token_invalid', 'The token is invalid.')
  }
  const posting = (route: Route) =>
    signedIn((asking, creator) => {
      if (!creator.hasScope) return tiktokError(401, 'scope_not_authorized', 'The user did not authorize the scope.')
      return asking.headers['content-type'] === 'application/json; charset=UTF-8'
        ? route(asking, creator)
        : invalid('type')
    })
  const server = await startHostedServer(
    { hosts: /^https:\/\/(open|open-upload)\.tiktokapis\.com$/ },
    {
      'POST /v2/oauth/token/': giveToken,
      'GET /v2/user/info/': signedIn(({ query }, { openId }) =>
        query.get('fields') === 'open_id' ? ok({ user: { open_id: openId } }) : invalid('fields'),
      ),
      'POST /v2/post/publish/creator_info/query/': posting(showCreator),
      'POST /v2/post/publish/video/init/': posting(begin),
      'POST /v2/post/publish/status/fetch/': posting(showStatus),
      'PUT /video/': receive,
    },
  )
  return Object.assign(server, { addCreator, creatorOf, signIn })
}
