/** Meta's Graph APIs with one page on Facebook, its account on Instagram, and one on Threads, as far as a client that publishes sees of them, at their own hosts. */
import { createHmac } from 'node:crypto'
import {
  asked,
  type FetchFile,
  fieldsIn,
  graphError,
  invalid,
  type MadeFile,
  type MadePost,
  makeContainers,
  ok,
} from './container-server.ts'
import { makeOAuthPages, type OAuthPages, testRedirect } from './oauth-pages.ts'
import { type Answered, type Asking, type HostedServer, startHostedServer } from './provider-server.ts'

export const pageToken = 'EAAG-token-of-the-page'
/** By it Facebook tells the page's own. */
export const personToken = 'EAAG-token-of-a-person'
export const threadsToken = 'THAA-token'
const shortToken = 'EAAG-short-lived'
export const metaApp = { id: '990077', secret: 'an-app-secret-of-meta' }
export const threadsUser = { id: '17841400000000000', username: 'the.shop', name: 'The Shop' }
export const instagramUser = { id: '17841405822304914', username: 'the.shop', name: 'The Shop' }
export const page = { id: '1755847768034402', name: 'The Shop', username: 'the.shop' }

/** Under a post on the page or on Instagram. */
interface MadeComment {
  readonly id: string
  /** Its author; left out: the account that has the post. */
  readonly from?: string
  readonly under: string
  readonly text: string
  readonly createdAt: Date
}

interface UploadedVideo {
  readonly session: string
  readonly size: number
  readonly parts: Buffer[]
  readonly begunAt: Date
  pollsLeft: number
}

type Counts = Readonly<Record<string, number>>

export interface MetaServer extends HostedServer {
  readonly state: {
    pageToken: string
    threadsToken: string
    /** Tokens of Threads that can be renewed: they are a day old. */
    renewable: string[]
    permissions: string[]
    /** Its app requires the proof of this secret. */
    appSecret: string | undefined
    canPlay: boolean
    /** Each post has these, on the network of the name. */
    counts: { facebook: Counts; instagram: Counts; threads: Counts }
    /** Nothing listens at its hosts. */
    isAway: boolean
  }
  readonly posts: MadePost[]
  readonly threads: MadePost[]
  readonly instagram: MadePost[]
  readonly comments: MadeComment[]
  /** Where somebody agrees to the app, at Facebook and at Threads. */
  readonly signIn: OAuthPages
  readonly signInToThreads: OAuthPages
}

const allPermissions = [
  'pages_manage_posts',
  'pages_read_engagement',
  'instagram_basic',
  'instagram_content_publish',
  'threads_manage_insights',
  'pages_manage_engagement',
  'instagram_manage_comments',
]
/** The real one's are of some MB. */
const partBytes = 100_000
const videoBytesMax = 10_000_000_000

const unproven = graphError(100, 'API calls from the server require an appsecret_proof argument')
const expired = graphError(190, 'Error validating access token: Session has expired', { error_subcode: 463 })

/** @param fetchFile how it reaches addresses of files */
export async function startMeta(
  fetchFile: FetchFile = () => Promise.reject(new Error('no files')),
): Promise<MetaServer> {
  const state: MetaServer['state'] = {
    pageToken,
    permissions: [...allPermissions],
    canPlay: true,
    threadsToken,
    renewable: [] as string[],
    isAway: false,
    appSecret: undefined,
    counts: { facebook: {}, instagram: {}, threads: {} } as MetaServer['state']['counts'],
  }
  const posts: MadePost[] = []
  const comments: MadeComment[] = []
  const photos = new Map<string, MadeFile>()
  const videos = new Map<string, UploadedVideo>()
  let ids = 122_100_000_000_000
  const nextId = () => String(++ids)

  const threads = makeContainers({
    user: threadsUser.id,
    text: 'text',
    textMax: 500,
    status: 'status',
    reason: 'error_message',
    itemsMax: 20,
    imageTypes: /^image\/(jpeg|png)$/,
    describesVideos: true,
    fetchFile,
    nextId,
    canPlay: () => state.canPlay,
    types: { image: 'IMAGE', video: 'VIDEO', videoAlone: 'VIDEO' },
    takesReplies: true,
    counts: () => ({}),
    permalink: (id) => `https://www.threads.com/@${threadsUser.username}/post/${id}`,
    // A topic stands without its sign.
    shown: (text) => text.replace('#', ''),
  })

  const instagram = makeContainers({
    user: instagramUser.id,
    text: 'caption',
    textMax: 2200,
    status: 'status_code',
    reason: 'status',
    itemsMax: 10,
    imageTypes: /^image\/jpeg$/,
    describesVideos: false,
    fetchFile,
    nextId,
    canPlay: () => state.canPlay,
    types: { image: undefined, video: 'VIDEO', videoAlone: 'REELS' },
    takesReplies: false,
    counts: () => state.counts.instagram,
    permalink: (id) => `https://www.instagram.com/p/${id}/`,
    // Mentions stand without their sign, unless an administrator of the app asks.
    shown: (text) => text.replaceAll('@', ''),
  })

  const isUnproven = ({ query, token = '' }: Asking) =>
    state.appSecret !== undefined &&
    query.get('appsecret_proof') !== createHmac('sha256', state.appSecret).update(token).digest('hex')

  const apps = new Map([[metaApp.id, { secret: metaApp.secret, redirect: testRedirect }]])
  const signIn = makeOAuthPages({
    page: () => 'https://www.facebook.com/v25.0/dialog/oauth',
    apps,
    separator: ',',
    tail: '#_=_',
    scopes: ['pages_show_list', ...allPermissions],
    tokens: () => ({ access_token: shortToken, token_type: 'bearer', expires_in: 5_000 }),
  })
  const signInToThreads = makeOAuthPages({
    page: () => 'https://threads.net/oauth/authorize',
    apps,
    separator: ',',
    tail: '#_',
    scopes: ['threads_basic', 'threads_content_publish'],
    tokens: () => ({ access_token: shortToken, user_id: threadsUser.id }),
  })

  function giveToken(asking: Asking): Answered {
    const exchanged = signIn.exchange(asking)
    if (exchanged !== undefined) return exchanged
    const form = Object.fromEntries(new URLSearchParams(asking.bytes.toString()))
    const { grant_type, client_id, client_secret, fb_exchange_token } = form
    const isApp = client_id === metaApp.id && client_secret === metaApp.secret
    if (grant_type !== 'fb_exchange_token' || !isApp || fb_exchange_token !== shortToken)
      return invalid('Invalid token')
    return ok({ access_token: personToken, token_type: 'bearer' })
  }

  function lengthen({ query }: Asking): Answered {
    const isApp = query.get('client_secret') === metaApp.secret && query.get('access_token') === shortToken
    if (query.get('grant_type') !== 'th_exchange_token' || !isApp) return expired
    return ok({ access_token: state.threadsToken, token_type: 'bearer', expires_in: 5_183_944 })
  }

  function listPages(asking: Asking): Answered {
    if (asking.token !== personToken) return expired
    if (isUnproven(asking)) return unproven
    const shown = { ...page, instagram_business_account: instagramUser }
    const other = { id: '1755847768039999', name: 'Another' }
    const isListed = /^id,name,instagram_business_account\{id,username\}$/.test(asking.query.get('fields') ?? '')
    return isListed ? ok({ data: [shown, other] }) : invalid('fields')
  }

  function renewToken({ query }: Asking): Answered {
    const token = query.get('access_token') ?? ''
    if (query.get('grant_type') !== 'th_refresh_token' || !state.renewable.includes(token)) return expired
    state.threadsToken = `${token}+`
    return ok({ access_token: state.threadsToken, token_type: 'bearer', expires_in: 5_183_944 })
  }

  const lacks = (permission: string): Answered | undefined =>
    state.permissions.includes(permission)
      ? undefined
      : graphError(200, `(#200) Requires ${permission} permission to manage the object`)

  function showNode(asking: Asking): Answered {
    const { id, query, token } = asking
    const inInstagram = token === state.pageToken ? instagram.show(asking) : undefined
    if (inInstagram !== undefined) return inInstagram
    const post = posts.find((one) => one.id === id)
    const isMeasured = (query.get('fields') ?? '').includes('summary')
    if (post !== undefined && isMeasured && token === state.pageToken) return showPost(asking)
    const video = videos.get(id)
    if (video !== undefined && token === state.pageToken && !isMeasured) return showVideo(id, video)
    if (id !== page.id) return graphError(100, 'Unsupported get request.', { error_subcode: 33 })
    const shown = {
      ...page,
      instagram_business_account: instagramUser,
      ...(token === personToken && { access_token: state.pageToken }),
    }
    return ok(asked(query, shown))
  }

  function showVideo(id: string, video: UploadedVideo): Answered {
    const done = video.pollsLeft-- > 0 ? 'processing' : state.canPlay ? 'ready' : 'error'
    const processing_phase = { status: done, ...(done === 'error' && { errors: [{ message: 'Unsupported codec' }] }) }
    return ok({ id, status: { video_status: done, processing_phase } })
  }

  function showPost({ id, query }: Asking): Answered {
    const fields = query.get('fields')!
    const missing = lacks('pages_read_engagement')
    if (missing !== undefined) return missing
    if (/likes(?!\.limit\(0\)\.summary\(true\))|comments(?!\.limit\(0\)\.summary\(true\))/.test(fields)) {
      return invalid('It lists people')
    }
    const isPost = id.includes('_')
    if (!isPost && fields.includes('shares'))
      return invalid('Tried accessing nonexisting field (shares) on node type (Video)')
    const { likes = 0, comments = 0, shares = 0 } = state.counts.facebook
    const summary = (total_count: number) => ({ data: [], summary: { total_count, can_like: true } })
    const shown = {
      id,
      likes: summary(likes),
      comments: summary(comments),
      ...(shares > 0 && { shares: { count: shares } }),
    }
    return ok(asked(query, shown))
  }

  /** Counts of a post on Threads. */
  function showInsights({ id, query }: Asking): Answered {
    if (!state.permissions.includes('threads_manage_insights')) {
      return graphError(10, 'Application does not have permission for this action')
    }
    if (!threads.posts.some((post) => post.id === id)) {
      return graphError(100, 'Unsupported get request.', { error_subcode: 33 })
    }
    const names = (query.get('metric') ?? '').split(',')
    if (names.some((name) => !['views', 'likes', 'replies', 'reposts', 'quotes', 'shares'].includes(name))) {
      return invalid('metric must be one of the following values')
    }
    const data = names.map((name) => ({
      name,
      period: 'lifetime',
      values: [{ value: state.counts.threads[name] ?? 0 }],
      id: `${id}/insights/${name}/lifetime`,
    }))
    return ok({ data })
  }

  function addPhoto({ form }: Asking): Answered {
    const fault = lacks('pages_manage_posts') ?? unknownField(form?.fields, ['published', 'alt_text_custom'])
    if (fault !== undefined) return fault
    const { file, fields } = form!
    if (file?.name !== 'source' || !/^image\/(jpeg|png)$/.test(file.contentType))
      return invalid('Missing or invalid image file')
    if (file.bytes.length > 10_000_000) return graphError(1, 'Photos should be smaller', { error_subcode: 1366046 })
    if (fields['published'] !== 'false') return invalid('It would be seen at once')
    const { contentType, bytes } = file
    const photo = { id: nextId(), contentType, altText: fields['alt_text_custom'], bytes }
    photos.set(photo.id, photo)
    return ok({ id: photo.id })
  }

  function publishPost(asking: Asking): Answered {
    const fields = fieldsIn(asking)
    const fault = lacks('pages_manage_posts') ?? unknownField(fields, ['message', 'link', 'attached_media'])
    if (fault !== undefined) return fault
    const { message = '', link, attached_media = '[]' } = fields
    if (link !== undefined && !URL.canParse(link)) return invalid('link URL is not properly formatted')
    const attached: { media_fbid?: string }[] = JSON.parse(attached_media)
    const media = attached.map(({ media_fbid = '' }) => photos.get(media_fbid))
    if (media.some((photo) => photo === undefined) || (link !== undefined && media.length > 0)) {
      return invalid('Param attached_media is invalid')
    }
    // It isn't known to compare pictures.
    if (media.length === 0 && posts.at(-1)?.text === message) return graphError(506, '(#506) Duplicate status message')
    for (const photo of media) photos.delete(photo!.id)
    return ok({ id: addPost(`${page.id}_${nextId()}`, message, media as MadeFile[], link) })
  }

  function addPost(id: string, text: string, media: readonly MadeFile[], link?: string): string {
    posts.push({ id, text, link, media, createdAt: new Date() })
    return id
  }

  function uploadVideo(asking: Asking): Answered {
    const fields = { ...fieldsIn(asking), ...asking.form?.fields }
    const missing = lacks('pages_manage_posts')
    if (missing !== undefined) return missing
    const { upload_phase: phase, upload_session_id: session = '', ...others } = fields
    if (phase === 'start') {
      const size = Number(others['file_size'])
      if (!(size > 0 && size <= videoBytesMax)) return invalid('file_size')
      const made = { session: nextId(), size, parts: [], begunAt: new Date(Date.now() - 7 * 60_000), pollsLeft: 1 }
      const id = nextId()
      videos.set(id, made)
      return ok({ upload_session_id: made.session, video_id: id, ...nextPart(made) })
    }
    const [id, video] = [...videos].find(([, one]) => one.session === session) ?? ['', undefined]
    if (video === undefined) return graphError(6000, 'There was a problem uploading your video file.')
    const received = Buffer.concat(video.parts)
    if (phase === 'transfer') {
      const { file } = asking.form ?? {}
      const { start_offset: start, end_offset: end } = nextPart(video)
      if (others['start_offset'] !== start || file?.name !== 'video_file_chunk') return graphError(6000, 'start_offset')
      if (file.bytes.length !== Number(end) - Number(start)) return graphError(6000, 'Invalid chunk size')
      video.parts.push(file.bytes)
      return ok(nextPart(video))
    }
    const fault = unknownField(others, ['description'])
    if (fault !== undefined || phase !== 'finish') return fault ?? invalid('upload_phase')
    if (received.length !== video.size) return graphError(6000, 'The video upload is incomplete')
    addPost(id, others['description'] ?? '', [{ id, contentType: 'video/mp4', altText: undefined, bytes: received }])
    return ok({ success: true })
  }

  function nextPart({ parts, size }: UploadedVideo) {
    const start = parts.reduce((sum, part) => sum + part.length, 0)
    return { start_offset: String(start), end_offset: String(Math.min(start + partBytes, size)) }
  }

  /** Newest first. */
  function list({ query }: Asking, text: 'message' | 'description'): Answered {
    const limit = Number(query.get('limit') ?? 25)
    if (limit > 100) return invalid('The parameter limit should not exceed 100')
    const missing = lacks('pages_read_engagement')
    if (missing !== undefined) return missing
    const own = posts.filter(({ id }) => id.includes('_') === (text === 'message')).reverse()
    const data = own.slice(0, limit).map((post) => {
      const created_time = (videos.get(post.id)?.begunAt ?? post.createdAt).toISOString().replace(/\.\d+Z/, '+0000')
      const status = { video_status: state.canPlay ? 'ready' : 'error' }
      const shown = { id: post.id, [text]: post.text, created_time, status }
      return asked(query, shown)
    })
    return ok({ data, paging: {} })
  }

  const onInstagram = (id: string) => instagram.posts.some((post) => post.id === id)
  const notThere = graphError(100, 'Unsupported post request.', { error_subcode: 33 })

  function comment(asking: Asking): Answered {
    const { id: under } = asking
    const fields = fieldsIn(asking)
    const fault =
      lacks(onInstagram(under) ? 'instagram_manage_comments' : 'pages_manage_engagement') ??
      unknownField(fields, ['message'])
    if (fault !== undefined) return fault
    const { message: text = '' } = fields
    const lengthMax = onInstagram(under) ? 2200 : 8000
    if (text.trim() === '' || [...text].length > lengthMax) return invalid('Param message is invalid')
    const id = onInstagram(under) ? nextId() : `${under.split('_').at(-1)}_${nextId()}`
    comments.push({ id, under, text, createdAt: new Date() })
    return ok({ id })
  }

  /** Facebook lists the oldest first unless it is told otherwise. Instagram shows 50 at most. */
  function listComments({ id, query }: Asking): Answered {
    const missing = lacks(onInstagram(id) ? 'instagram_manage_comments' : 'pages_read_engagement')
    if (missing !== undefined) return missing
    const isNewestFirst = onInstagram(id) || query.get('order') === 'reverse_chronological'
    const own = comments.filter(({ under }) => under === id)
    const most = Math.min(Number(query.get('limit') ?? 25), onInstagram(id) ? 50 : 100)
    const data = (isNewestFirst ? own.reverse() : own).slice(0, most).map((one) => {
      const time = one.createdAt.toISOString().replace(/\.\d+Z/, '+0000')
      const shown = onInstagram(id)
        ? { id: one.id, text: one.text, timestamp: time, ...authorOnInstagram(one) }
        : { id: one.id, message: one.text, created_time: time, from: { id: one.from ?? page.id } }
      return asked(query, shown)
    })
    return ok({ data, paging: {} })
  }

  /** `from` has an id of its own there; `user` is there on comments of the account alone. */
  const authorOnInstagram = ({ from }: MadeComment) =>
    from === undefined ? { from: { id: '5551' }, user: { id: instagramUser.id } } : { from: { id: from } }

  /** A post of the page, or of its account on Instagram. */
  const ofPost = (route: Route) => (asking: Asking) => {
    const { id, token } = asking
    if (token !== state.pageToken) return expired
    if (isUnproven(asking)) return unproven
    return onInstagram(id) || posts.some((post) => post.id === id) ? route(asking) : notThere
  }

  type Route = (asking: Asking) => Answered | Promise<Answered>
  /** A token of the page reaches the page alone. */
  const ofPage =
    (route: Route, node: string = page.id) =>
    (asking: Asking) => {
      if (asking.headers['host'] !== 'graph.facebook.com') return { status: 404, body: '' }
      if (asking.token !== state.pageToken) return expired
      if (isUnproven(asking)) return unproven
      return asking.id === node ? route(asking) : graphError(100, 'Unsupported request.', { error_subcode: 33 })
    }
  const ofInstagram = (permission: string, route: Route) =>
    ofPage((asking) => lacks(permission) ?? route(asking), instagramUser.id)
  const ofThreads = (route: Route) => (asking: Asking) => {
    if (asking.headers['host'] !== 'graph.threads.net') return { status: 404, body: '' }
    return asking.token === state.threadsToken ? route(asking) : expired
  }
  const hosting = { hosts: /^https:\/\/graph\.(facebook\.com|threads\.net)$/, isAway: () => state.isAway }
  const server = await startHostedServer(hosting, {
    'GET /refresh_access_token': renewToken,
    'POST /v25.0/oauth/access_token': giveToken,
    'GET /v25.0/me/accounts': listPages,
    'POST /oauth/access_token': (asking) => signInToThreads.exchange(asking) ?? invalid('grant_type'),
    'GET /access_token': lengthen,
    'GET /v1.0/me': ofThreads(({ query }) => ok(asked(query, threadsUser))),
    'GET /v1.0/:id': ofThreads(
      (asking) => threads.show(asking) ?? graphError(100, 'Unsupported get request.', { error_subcode: 33 }),
    ),
    'GET /v1.0/:id/insights': ofThreads(showInsights),
    'GET /v1.0/:id/threads': ofThreads(threads.list),
    'GET /v1.0/:id/replies': ofThreads(threads.listReplies),
    'POST /v1.0/:id/threads': ofThreads(threads.make),
    'POST /v1.0/:id/threads_publish': ofThreads(threads.publish),
    'GET /v25.0/me': ({ token }) => (token === state.pageToken ? ok({ id: page.id }) : ok({ id: '10150000000000001' })),
    'GET /v25.0/:id': (asking) => {
      if (![state.pageToken, personToken].includes(asking.token ?? '')) return expired
      return isUnproven(asking) ? unproven : showNode(asking)
    },
    'GET /v25.0/:id/published_posts': ofPage((asking) => list(asking, 'message')),
    'GET /v25.0/:id/videos': ofPage((asking) => list(asking, 'description')),
    'POST /v25.0/:id/photos': ofPage(addPhoto),
    'POST /v25.0/:id/videos': ofPage(uploadVideo),
    'POST /v25.0/:id/feed': ofPage(publishPost),
    'GET /v25.0/:id/comments': ofPost(listComments),
    'POST /v25.0/:id/comments': ofPost(comment),
    'GET /v25.0/:id/media': ofInstagram('instagram_basic', instagram.list),
    'POST /v25.0/:id/media': ofInstagram('instagram_basic', instagram.make),
    'POST /v25.0/:id/media_publish': ofInstagram('instagram_content_publish', instagram.publish),
  })
  return Object.assign(server, {
    state,
    posts,
    comments,
    threads: threads.posts,
    instagram: instagram.posts,
    signIn,
    signInToThreads,
  })
}

function unknownField(fields: object | undefined, known: readonly string[]): Answered | undefined {
  const unknown = Object.keys(fields ?? { body: '' }).find((name) => !known.includes(name))
  return unknown === undefined ? undefined : invalid(`unknown parameter ${unknown}`)
}
