/** Google's sign-in and the YouTube Data API with one channel, as far as a client that uploads sees of them, at their own hosts. */
import { makeOAuthPages, type OAuthPages, testRedirect } from './oauth-pages.ts'
import { type Answered, type Asking, type HostedServer, startHostedServer } from './provider-server.ts'

export const googleClient = {
  client_id: '77-app.apps.googleusercontent.com',
  client_secret: 'GOCSPX-secret',
  refresh_token: '1//refresh',
}
export const channel = { id: 'UCshop-_1', title: 'The Shop', customUrl: '@theshop', uploads: 'UUshop-_1' }

interface MadeVideo {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly bytes: Buffer
  readonly status: Readonly<Record<string, unknown>>
  readonly publishedAt: string
  pollsLeft: number
}

interface Session {
  readonly id: string
  readonly size: number
  // biome-ignore lint/suspicious/noExplicitAny: it is what a client sent
  readonly resource: any
  received: Buffer
  video: MadeVideo | undefined
}

export interface YoutubeServer extends HostedServer {
  readonly state: {
    refreshToken: string
    scopes: string[]
    expiresIn: number
    /** Access tokens that are taken. */
    tokens: Set<string>
    hasChannel: boolean
    isAudited: boolean
    /** How often a new video's processing is asked for before it ends, and what becomes of it. */
    polls: number
    outcome: Readonly<Record<string, string>>
    /** Each video has these, as texts. */
    statistics: Readonly<Record<string, string>>
  }
  readonly videos: MadeVideo[]
  /** Where somebody agrees to the app. */
  readonly signIn: OAuthPages
}

const scopesUrl = 'https://www.googleapis.com/auth/'
const unit = 256 * 1024

export function googleError(code: number, reason: string, message: string): Answered {
  return { status: code, body: { error: { code, message, errors: [{ message, domain: 'youtube.test', reason }] } } }
}

const ok = (body: object): Answered => ({ status: 200, body })

export async function startYoutube(): Promise<YoutubeServer> {
  const state: YoutubeServer['state'] = {
    refreshToken: googleClient.refresh_token,
    scopes: ['youtube.upload', 'youtube.readonly'],
    expiresIn: 3599,
    tokens: new Set<string>(),
    hasChannel: true,
    isAudited: true,
    polls: 0,
    outcome: { uploadStatus: 'processed' },
    statistics: { viewCount: '0', likeCount: '0', favoriteCount: '0', commentCount: '0' },
  }
  const videos: MadeVideo[] = []
  const sessions: Session[] = []
  let made = 0

  const signIn = makeOAuthPages({
    page: () => 'https://accounts.google.com/o/oauth2/v2/auth',
    apps: new Map([[googleClient.client_id, { secret: googleClient.client_secret, redirect: testRedirect }]]),
    scopes: state.scopes.map((name) => scopesUrl + name),
    takesProof: true,
    more: { access_type: 'offline', prompt: 'consent' },
    sends: { iss: 'https://accounts.google.com' },
    tokens: (scope) => ({ access_token: 'ya29.first', refresh_token: state.refreshToken, scope, expires_in: 3599 }),
  })

  function giveToken(asking: Asking): Answered {
    const exchanged = signIn.exchange(asking)
    if (exchanged !== undefined) return exchanged
    const { bytes, headers } = asking
    const sent = Object.fromEntries(new URLSearchParams(bytes.toString()))
    if (headers['host'] !== 'oauth2.googleapis.com' || sent['grant_type'] !== 'refresh_token') return ok({})
    if (sent['client_id'] !== googleClient.client_id || sent['client_secret'] !== googleClient.client_secret) {
      return { status: 401, body: { error: 'invalid_client', error_description: 'Unauthorized' } }
    }
    if (sent['refresh_token'] !== state.refreshToken) {
      return { status: 400, body: { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' } }
    }
    const access_token = `ya29.${++made}`
    state.tokens.add(access_token)
    const scope = state.scopes.map((name) => scopesUrl + name).join(' ')
    return ok({ access_token, scope, expires_in: state.expiresIn, token_type: 'Bearer' })
  }

  function begin({ json, headers, query }: Asking): Answered {
    const { snippet = {}, status = {}, ...others } = json ?? {}
    const { title = '', description = '', ...more } = snippet
    const { privacyStatus, selfDeclaredMadeForKids, ...rest } = status
    const unknown = Object.keys({ ...others, ...more, ...rest })
    if (query.get('uploadType') !== 'resumable' || query.get('part') !== 'snippet,status' || unknown.length > 0) {
      return googleError(400, 'unexpectedPart', `Unexpected: ${unknown}`)
    }
    if (title === '' || [...title].length > 100 || /[<>]/.test(title)) {
      return googleError(400, 'invalidTitle', 'The request metadata specifies an invalid or empty video title.')
    }
    if (Buffer.byteLength(description) > 5000 || /[<>]/.test(description)) {
      return googleError(400, 'invalidDescription', 'The request metadata specifies an invalid video description.')
    }
    if (privacyStatus !== 'public' || selfDeclaredMadeForKids !== false) return googleError(400, 'invalidStatus', 'No')
    const size = Number(headers['x-upload-content-length'])
    if (!(size > 0) || !/^video\//.test(headers['x-upload-content-type'] ?? '')) {
      return googleError(400, 'badContent', 'Media type is not supported.')
    }
    const id = `AB-${++made}`
    sessions.push({ id, size, resource: json, received: Buffer.alloc(0), video: undefined })
    return { status: 200, headers: { location: `https://www.googleapis.com/upload/youtube/v3/videos?upload_id=${id}` } }
  }

  function receive({ query, headers, bytes }: Asking): Answered {
    const session = sessions.find(({ id }) => id === query.get('upload_id'))
    if (session === undefined) return { status: 404 }
    const [, first, last, size] = /^bytes (?:\*|(\d+)-(\d+))\/(\d+)$/.exec(headers['content-range'] ?? '') ?? []
    if (Number(size) !== session.size) return { status: 400, body: 'Failed to parse Content-Range header.' }
    if (first !== undefined && session.video === undefined) {
      const isLast = Number(last) + 1 === session.size
      if (Number(first) !== session.received.length || bytes.length !== Number(last) - Number(first) + 1) {
        return { status: 400, body: 'Invalid request.' }
      }
      // Less than a unit isn't kept, save at the end.
      const kept = isLast ? bytes : bytes.subarray(0, Math.floor(bytes.length / unit) * unit)
      session.received = Buffer.concat([session.received, kept])
      if (isLast) publish(session)
    }
    if (session.video !== undefined) return ok(shown(session.video, 'snippet,status'))
    const { length } = session.received
    return { status: 308, headers: length === 0 ? {} : { range: `bytes=0-${length - 1}` } }
  }

  function publish(session: Session): void {
    const { snippet, status } = session.resource
    const privacyStatus = state.isAudited ? status.privacyStatus : 'private'
    const id = `vid_${++made}-abcde`.slice(0, 11)
    // The moment at which the upload began may be the video's.
    const publishedAt = new Date(Date.now() - 5 * 60_000).toISOString()
    session.video = {
      id,
      title: snippet.title,
      description: snippet.description.trim(),
      bytes: session.received,
      publishedAt,
      status: { ...status, privacyStatus, ...state.outcome },
      pollsLeft: state.polls,
    }
    videos.unshift(session.video)
  }

  function shown(video: MadeVideo, part: string): object {
    const { id, title, description, publishedAt } = video
    const isWorking = part === 'status' ? video.pollsLeft-- > 0 : video.pollsLeft > 0
    const snippet = { publishedAt, channelId: channel.id, title, description }
    const status = isWorking ? { ...video.status, uploadStatus: 'uploaded' } : video.status
    const all: Readonly<Record<string, unknown>> = { snippet, status, statistics: state.statistics }
    return { kind: 'youtube#video', id, ...Object.fromEntries(part.split(',').map((name) => [name, all[name]])) }
  }

  function listChannels({ query }: Asking): Answered {
    if (query.get('mine') !== 'true') return googleError(400, 'missingRequiredParameter', 'No filter selected.')
    const { id, title, customUrl, uploads } = channel
    const found = { id, snippet: { title, customUrl }, contentDetails: { relatedPlaylists: { uploads } } }
    return ok(state.hasChannel ? { items: [found], pageInfo: { totalResults: 1 } } : { pageInfo: { totalResults: 0 } })
  }

  function listUploads({ query }: Asking): Answered {
    const most = Number(query.get('maxResults') ?? 5)
    if (most > 50) return googleError(400, 'invalidValue', 'Invalid maxResults')
    if (query.get('playlistId') !== channel.uploads || videos.length === 0) {
      return googleError(404, 'playlistNotFound', 'The playlist cannot be found.')
    }
    const items = videos.slice(0, most).map(({ id }) => ({ id: `UUx${id}`, contentDetails: { videoId: id } }))
    return ok({ items, pageInfo: { totalResults: videos.length } })
  }

  function listVideos({ query }: Asking): Answered {
    const ids = (query.get('id') ?? '').split(',')
    if (ids.length > 50) return googleError(400, 'invalidFilters', 'The request specifies too many ids.')
    const found = videos.filter(({ id }) => ids.includes(id))
    return ok({ items: found.map((video) => shown(video, query.get('part') ?? '')), pageInfo: {} })
  }

  const signedIn =
    (scopes: readonly string[], route: (asking: Asking) => Answered) =>
    (asking: Asking): Answered => {
      if (asking.headers['host'] !== 'www.googleapis.com') return { status: 404, body: '' }
      if (!state.tokens.has(asking.token ?? '')) return googleError(401, 'authError', 'Invalid Credentials')
      if (state.scopes.some((scope) => scopes.includes(scope))) return route(asking)
      return googleError(403, 'insufficientPermissions', 'Request had insufficient authentication scopes.')
    }
  const [reads, uploads] = [
    ['youtube', 'youtube.readonly'],
    ['youtube', 'youtube.upload'],
  ]
  const server = await startHostedServer(
    { hosts: /^https:\/\/(oauth2|www)\.googleapis\.com$/ },
    {
      'POST /token': giveToken,
      'GET /youtube/v3/channels': signedIn(reads, listChannels),
      'GET /youtube/v3/playlistItems': signedIn(reads, listUploads),
      'GET /youtube/v3/videos': signedIn(reads, listVideos),
      'POST /upload/youtube/v3/videos': signedIn(uploads, begin),
      'PUT /upload/youtube/v3/videos': signedIn(uploads, receive),
    },
  )
  return Object.assign(server, { state, videos, signIn })
}
