/** A Mastodon instance (4.x), as far as a client that signs in and publishes sees of it. */
import { makeOAuthPages, type OAuthPages, type RegisteredApp } from './oauth-pages.ts'
import type { Answered, Asking, ProviderServer, Routes } from './provider-server.ts'
import { startProviderServer } from './provider-server.ts'

interface MadeStatus {
  readonly id: string
  readonly text: string
  readonly mediaIds: string[]
  readonly inReplyTo: string | null
  readonly createdAt: string
}

export interface MadeMedia {
  readonly id: string
  readonly bytes: Buffer
  readonly contentType: string
  readonly description: string | undefined
  /** How often it is still to be asked for until it is processed. */
  pollsLeft: number
  isAttached: boolean
}

export interface MastodonServer extends ProviderServer {
  readonly state: {
    token: string
    maxCharacters: number
    imageBytes: number
    /** Each status has these. */
    counts: Readonly<Record<string, number>>
  }
  readonly statuses: MadeStatus[]
  readonly media: MadeMedia[]
  /** Where somebody agrees to an app. */
  readonly pages: OAuthPages
  /** As after an hour. */
  forgetKeys(): void
}

const types = ['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'video/mp4', 'video/quicktime', 'video/webm']
const scopes = ['read:accounts', 'read:statuses', 'write:statuses', 'write:media']
const idBase = 113_000_000_000_000

export async function startMastodon(): Promise<MastodonServer> {
  const statuses: MadeStatus[] = []
  const media: MadeMedia[] = []
  const keys = new Map<string, MadeStatus>()
  const counts = { favourites_count: 0, reblogs_count: 0, replies_count: 0 }
  const state = { token: 'a-token-of-the-account', maxCharacters: 500, imageBytes: 16_777_216, counts }
  let ids = 0
  const nextId = () => String(idBase + ++ids)

  const statusShown = ({ id, mediaIds, inReplyTo, createdAt }: MadeStatus) => ({
    in_reply_to_id: statuses.some((one) => one.id === inReplyTo) ? inReplyTo : null,
    id,
    created_at: createdAt,
    uri: `https://social.test/users/shop/statuses/${id}`,
    url: `https://social.test/@shop/${id}`,
    visibility: 'public',
    content: '<p>…</p>',
    ...state.counts,
    media_attachments: mediaIds.map((one) => ({ id: one, type: 'image' })),
  })
  const invalid = (error: string): Answered => ({ status: 422, body: { error } })

  function publish({ json, headers }: Asking): Answered {
    const key = headers['idempotency-key']
    const known = key === undefined ? undefined : keys.get(key)
    if (known !== undefined && statuses.includes(known)) return { status: 200, body: statusShown(known) }
    // It looks for the one that it has made, which was deleted.
    if (known !== undefined) return { status: 404, body: { error: 'Record not found' } }
    if (json === undefined) return invalid("Validation failed: Text can't be blank")
    const text = String(json.status ?? '').trim()
    const mediaIds: string[] = json.media_ids ?? []
    if (text === '' && mediaIds.length === 0) return invalid("Validation failed: Text can't be blank")
    const counted = [...text.replace(/https?:\/\/\S+/g, 'x'.repeat(23))].length
    if (counted > state.maxCharacters) {
      return invalid(`Validation failed: Text character limit of ${state.maxCharacters} exceeded`)
    }
    const attached = mediaIds.map((id) => media.find((one) => one.id === id))
    if (attached.some((one) => one === undefined || one.isAttached)) {
      return invalid('Validation failed: Media could not be found')
    }
    if (attached.some((one) => one!.pollsLeft > 0)) {
      return invalid('Cannot attach files that have not finished processing. Try again in a moment!')
    }
    const videos = attached.filter((one) => one!.contentType.startsWith('video/')).length
    if (attached.length > 4 || (videos > 0 && attached.length > 1)) {
      return invalid('Cannot attach a video to a post that already contains images')
    }
    const inReplyTo: string | null = json.in_reply_to_id ?? null
    if (inReplyTo !== null && !statuses.some(({ id }) => id === inReplyTo)) {
      return { status: 404, body: { error: 'The post you are trying to reply to does not appear to exist.' } }
    }
    for (const one of attached) one!.isAttached = true
    const status = { id: nextId(), text, mediaIds, inReplyTo, createdAt: new Date().toISOString() }
    statuses.push(status)
    if (key !== undefined) keys.set(key, status)
    return { status: 200, body: statusShown(status) }
  }

  function upload({ form }: Asking): Answered {
    const file = form?.file
    if (form === undefined || file?.name !== 'file') return invalid("Validation failed: File can't be blank")
    if (!types.includes(file.contentType)) return invalid('Validation failed: File content type is invalid')
    const { description } = form.fields
    if ((description?.length ?? 0) > 1500) return invalid('Validation failed: Description is too long')
    const isVideo = file.contentType.startsWith('video/')
    if (!isVideo && file.bytes.length > state.imageBytes) {
      return invalid(`Validation failed: File file size must be less than ${state.imageBytes}`)
    }
    const { bytes, contentType } = file
    const made = { id: nextId(), bytes, contentType, description, pollsLeft: isVideo ? 2 : 0, isAttached: false }
    media.push(made)
    // A film is worked on later.
    return isVideo
      ? { status: 202, body: { id: made.id, url: null } }
      : { status: 200, body: { id: made.id, url: 'x' } }
  }

  function listStatuses({ id, query }: Asking): Answered {
    if (id !== '4711') return { status: 404, body: { error: 'Record not found' } }
    const limit = Number(query.get('limit') ?? 20)
    if (limit > 40) return invalid('limit is at most 40')
    const below = Number(query.get('max_id') ?? Number.POSITIVE_INFINITY)
    const page = statuses
      .filter((one) => Number(one.id) < below)
      .reverse()
      .slice(0, limit)
    return { status: 200, body: page.map(statusShown) }
  }

  const routes: Routes = {
    'GET /api/v1/accounts/verify_credentials': () => ({
      status: 200,
      body: { id: '4711', username: 'shop', acct: 'shop', display_name: 'The Shop', url: 'https://social.test/@shop' },
    }),
    'GET /api/v2/instance': () => ({
      status: 200,
      body: {
        domain: 'social.test',
        version: '4.5.0',
        configuration: {
          statuses: {
            max_characters: state.maxCharacters,
            max_media_attachments: 4,
            characters_reserved_per_url: 23,
          },
          media_attachments: { image_size_limit: state.imageBytes, video_size_limit: 103_809_024 },
        },
      },
    }),
    'POST /api/v2/media': upload,
    'GET /api/v1/media/:id': ({ id }) => {
      const found = media.find((one) => one.id === id)
      if (found === undefined) return { status: 404, body: { error: 'Record not found' } }
      found.pollsLeft = Math.max(0, found.pollsLeft - 1)
      return { status: found.pollsLeft > 0 ? 206 : 200, body: { id, url: found.pollsLeft > 0 ? null : 'x' } }
    },
    'POST /api/v1/statuses': publish,
    'GET /api/v1/accounts/:id/statuses': listStatuses,
    'GET /api/v1/statuses/:id': ({ id }) => {
      const found = statuses.find((one) => one.id === id)
      if (found === undefined) return { status: 404, body: { error: 'Record not found' } }
      return { status: 200, body: statusShown(found) }
    },
    'GET /api/v1/statuses/:id/source': ({ id }) => {
      const found = statuses.find((one) => one.id === id)
      if (found === undefined) return { status: 404, body: { error: 'Record not found' } }
      return { status: 200, body: { id, text: found.text, spoiler_text: '' } }
    },
  }
  const apps = new Map<string, RegisteredApp>()
  const pages = makeOAuthPages({
    page: () => `${server.url}/oauth/authorize`,
    apps,
    scopes,
    takesProof: true,
    tokens: (scope) => ({ access_token: state.token, token_type: 'Bearer', scope, created_at: 1_780_000_000 }),
  })
  function register({ json }: Asking): Answered {
    const { client_name: name, redirect_uris: redirect, scopes: asked } = json ?? {}
    const isKnown = String(asked)
      .split(' ')
      .every((scope) => scopes.includes(scope))
    if (!name || !URL.canParse(redirect) || !isKnown) return invalid('Validation failed: Redirect URI or scopes')
    const id = `app-${apps.size + 1}`
    const secret = `secret-of-${id}`
    apps.set(id, { secret, redirect })
    return { status: 200, body: { id: '1', name, client_id: id, client_secret: secret, redirect_uri: redirect } }
  }
  const open: Routes = {
    'POST /api/v1/apps': register,
    'GET /oauth/authorize': () => ({
      status: 200,
      headers: { 'content-type': 'text/html' },
      body: '<form method="post"><button>Authorize</button><button name="deny" value="1">Deny</button></form>',
    }),
    'POST /oauth/authorize': ({ query, bytes }) => {
      const answer = bytes.includes('deny') ? pages.decline : pages.agree
      return { status: 302, headers: { location: answer(`${server.url}/oauth/authorize?${query}`) } }
    },
    'POST /oauth/token': (asking) =>
      pages.exchange(asking) ?? { status: 400, body: { error: 'unsupported_grant_type' } },
  }
  const server: ProviderServer = await startProviderServer({
    ...open,
    ...Object.fromEntries(
      Object.entries(routes).map(([step, route]) => [
        step,
        (asking: Asking) => {
          if (asking.token !== state.token) return { status: 401, body: { error: 'The access token is invalid' } }
          return route(asking)
        },
      ]),
    ),
  })
  return Object.assign(server, { state, statuses, media, pages, forgetKeys: () => keys.clear() })
}
