/** Pinterest with one account and its board, and the storage that videos go to, as far as a client that pins sees of them, at their own hosts. */
import { makeOAuthPages, type OAuthPages, testRedirect } from './oauth-pages.ts'
import { type Answered, type Asking, type HostedServer, startHostedServer } from './provider-server.ts'

export const pinterestToken = 'pina_token'
export const pinterestApp = { refresh_token: 'pinr.refresh', client_id: '1480000', client_secret: 'secret' }
export const pinner = { id: '2783136121146311751', username: 'theshop', business_name: 'The Shop' }
export const board = { id: '549755885175', name: 'Spring' }
/** Another account's. */
export const otherBoard = '549755885999'

interface MadePin {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly link: string | undefined
  readonly alt_text: string | undefined
  readonly source: string
  /** The cover stands before its video. */
  readonly files: readonly Buffer[]
  readonly created_at: string
}

interface Video {
  bytes: Buffer | undefined
  pollsLeft: number
}

export interface PinterestServer extends HostedServer {
  readonly state: { token: string; refreshToken: string; mayPin: boolean; canPlay: boolean; metrics: object }
  readonly pins: MadePin[]
  /** Where somebody agrees to the app. */
  readonly signIn: OAuthPages
}

const refused = (status: number, code: number, message: string): Answered => ({ status, body: { code, message } })
const invalid = (message: string) => refused(400, 1, `Invalid request: ${message}`)
const uploadUrl = 'https://pinterest-media-upload.s3-accelerate.amazonaws.com/'
const policy = { 'Content-Type': 'multipart/form-data', key: 'uploads/11/aa', policy: 'eyJl==', 'x-amz-signature': 'f' }
const signs = { 'image/png': '89504e47', 'image/jpeg': 'ffd8ff' } as Readonly<Record<string, string>>

export async function startPinterest(): Promise<PinterestServer> {
  const state = {
    token: pinterestToken,
    refreshToken: pinterestApp.refresh_token,
    mayPin: true,
    canPlay: true,
    metrics: {},
  }
  const pins: MadePin[] = []
  const videos = new Map<string, Video>()
  let made = 813_744_226_420_795_000n
  const nextId = () => String(++made)

  const signIn = makeOAuthPages({
    page: () => 'https://www.pinterest.com/oauth/',
    apps: new Map([[pinterestApp.client_id, { secret: pinterestApp.client_secret, redirect: testRedirect }]]),
    scopes: ['user_accounts:read', 'boards:read', 'boards:write', 'pins:read', 'pins:write'],
    separator: ',',
    isBasic: true,
    tokens: (scope) => ({ access_token: state.token, refresh_token: state.refreshToken, token_type: 'bearer', scope }),
  })

  function giveToken(asking: Asking): Answered {
    const exchanged = signIn.exchange(asking)
    if (exchanged !== undefined) return exchanged
    const { bytes, headers } = asking
    const basic = Buffer.from(`${pinterestApp.client_id}:${pinterestApp.client_secret}`).toString('base64')
    if (headers['authorization'] !== `Basic ${basic}`) return refused(401, 2, 'Authentication failed.')
    const { grant_type, refresh_token, ...others } = Object.fromEntries(new URLSearchParams(bytes.toString()))
    if (grant_type !== 'refresh_token' || Object.keys(others).length > 0) return invalid('grant_type')
    if (refresh_token !== state.refreshToken) return refused(400, 283, 'Token is invalid or expired.')
    state.token += '+'
    state.refreshToken += '+'
    const tokens = { access_token: state.token, refresh_token: state.refreshToken }
    return { status: 200, body: { ...tokens, token_type: 'bearer', expires_in: 2_592_000, scope: 'pins:write' } }
  }

  function showBoard({ id }: Asking): Answered {
    if (id === otherBoard) return { status: 200, body: { id, name: 'Theirs', owner: { username: 'another' } } }
    if (id !== board.id) return refused(404, 40, 'Board not found.')
    return { status: 200, body: { ...board, owner: { username: pinner.username }, privacy: 'PUBLIC' } }
  }

  function listPins({ id, query }: Asking): Answered {
    const size = Number(query.get('page_size') ?? 25)
    if (!(size >= 1 && size <= 250)) return invalid('page_size')
    if (id !== board.id) return refused(404, 40, 'Board not found.')
    const items = pins.slice(0, size).map(({ files: _files, source: _source, ...pin }) => pin)
    return { status: 200, body: { items, bookmark: null } }
  }

  function addVideo({ json }: Asking): Answered {
    if (json?.media_type !== 'video') return invalid('media_type')
    const media_id = nextId()
    videos.set(media_id, { bytes: undefined, pollsLeft: 1 })
    const upload_parameters = { ...policy, key: `uploads/${media_id}` }
    return { status: 201, body: { media_id, media_type: 'video', upload_url: uploadUrl, upload_parameters } }
  }

  /** The storage wants the fields that it was promised, before the file, and no token of Pinterest's. */
  function storeVideo({ headers, form }: Asking): Answered {
    const { key = '', ...others } = form?.fields ?? {}
    const video = videos.get(key.replace('uploads/', ''))
    const isSigned = Object.entries(policy).every(([name, value]) => name === 'key' || others[name] === value)
    if (!isSigned || video === undefined || form?.file?.name !== 'file' || headers['authorization'] !== undefined) {
      return { status: 403, body: '<Error><Code>AccessDenied</Code></Error>' }
    }
    video.bytes = form.file.bytes
    return { status: 204 }
  }

  function showVideo({ id }: Asking): Answered {
    const video = videos.get(id)
    if (video === undefined) return refused(404, 50, 'Media not found.')
    const ended = state.canPlay ? 'succeeded' : 'failed'
    const status = video.bytes === undefined ? 'registered' : video.pollsLeft-- > 0 ? 'processing' : ended
    return { status: 200, body: { media_id: id, media_type: 'video', status } }
  }

  function addPin({ json }: Asking): Answered {
    if (!state.mayPin) return refused(403, 29, 'You are not permitted to access that resource.')
    const { board_id, title, description, link, alt_text, media_source: source, ...others } = json ?? {}
    if (Object.keys(others).length > 0) return invalid(`unknown ${Object.keys(others)}`)
    if (board_id !== board.id) return refused(404, 40, 'Board not found.')
    const bounds: [string | undefined, number][] = [
      [title, 100],
      [description, 800],
      [alt_text, 500],
      [link, 2048],
    ]
    if (bounds.some(([text, most]) => text !== undefined && text.length > most)) return invalid('too long')
    if (link !== undefined && !URL.canParse(link)) return invalid('link')
    const files = filesIn(source ?? {})
    if (files === null) return invalid('media_source')
    const created_at = new Date().toISOString().slice(0, 19)
    const pin = { id: nextId(), title, description, link, alt_text, source: source.source_type, files, created_at }
    pins.unshift(pin)
    return { status: 201, body: { id: pin.id, board_id, title, description, created_at } }
  }

  // biome-ignore lint/suspicious/noExplicitAny: it is what a client sent
  function filesIn({ source_type, ...source }: any): Buffer[] | null {
    const decoded = ({ content_type, data }: { content_type: string; data: string }) => {
      const bytes = Buffer.from(data, 'base64')
      const isWhole = bytes.toString('base64') === data && bytes.length <= 20_000_000
      return isWhole && bytes.toString('hex', 0, 4).startsWith(signs[content_type] ?? 'none') ? bytes : null
    }
    const { items = [], media_id, cover_image_content_type: content_type, cover_image_data: data } = source
    const video = videos.get(media_id)?.bytes
    const found: (Buffer | null | undefined)[] =
      source_type === 'image_base64'
        ? [decoded(source)]
        : source_type === 'multiple_image_base64' && items.length >= 2 && items.length <= 5
          ? items.map(decoded)
          : source_type === 'video_id'
            ? [decoded({ content_type, data }), video]
            : [null]
    return found.every((file) => Buffer.isBuffer(file)) ? found : null
  }

  function showPin({ id, query }: Asking): Answered {
    const pin = pins.find((one) => one.id === id)
    if (pin === undefined) return refused(404, 50, 'Pin not found.')
    const pin_metrics = { '90d': {}, lifetime_metrics: state.metrics }
    const { title, description, created_at } = pin
    const isMeasured = query.get('pin_metrics') === 'true'
    return { status: 200, body: { id, title, description, created_at, ...(isMeasured && { pin_metrics }) } }
  }

  const signedIn =
    (route: (asking: Asking) => Answered) =>
    (asking: Asking): Answered => {
      if (asking.headers['host'] !== 'api.pinterest.com') return { status: 404, body: '' }
      return asking.token === state.token ? route(asking) : refused(401, 2, 'Authentication failed.')
    }
  const server = await startHostedServer(
    { hosts: /^https:\/\/(api\.pinterest\.com|pinterest-media-upload\..*)$/ },
    {
      'POST /v5/oauth/token': giveToken,
      'GET /v5/user_account': signedIn(() => ({ status: 200, body: { ...pinner, account_type: 'BUSINESS' } })),
      'GET /v5/boards': signedIn(() => ({
        status: 200,
        body: { items: [board, { id: '549755885176', name: 'Autumn' }] },
      })),
      'GET /v5/boards/:id': signedIn(showBoard),
      'GET /v5/boards/:id/pins': signedIn(listPins),
      'POST /v5/media': signedIn(addVideo),
      'GET /v5/media/:id': signedIn(showVideo),
      'POST /v5/pins': signedIn(addPin),
      'GET /v5/pins/:id': signedIn(showPin),
      'POST /': storeVideo,
    },
  )
  return Object.assign(server, { state, pins, signIn })
}
