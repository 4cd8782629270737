/** A server of the AT Protocol (PDS) with one account, as far as a client that publishes to Bluesky sees of it. */
import { createHash, randomBytes } from 'node:crypto'
import type { Answered, Asking, ProviderServer } from './provider-server.ts'
import { startProviderServer } from './provider-server.ts'

interface MadeRecord {
  readonly rkey: string
  // biome-ignore lint/suspicious/noExplicitAny: it is what a client sent
  readonly record: any
}

export interface BlueskyServer extends ProviderServer {
  readonly state: {
    password: string
    handle: string
    /** Each post has these. */
    counts: Readonly<Record<string, number>>
  }
  readonly records: MadeRecord[]
  readonly blobs: Map<string, { bytes: Buffer; mimeType: string }>
  /** As the account's owner does it. It isn't asked whether what a reply names is there still. */
  remove(record: MadeRecord): void
  /** As after two hours. */
  expireAccess(): void
  /** As after months. */
  expireRefresh(): void
}

export const testDid = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz'
const testHandle = 'shop.bsky.test'
/** Handles of others, by which a text may mention them. */
export const knownHandles = new Map([
  ['ada.bsky.test', 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa'],
  ['bob.example.com', 'did:web:bob.example.com'],
])
const tid = /^[234567abcdefghij][234567abcdefghijklmnopqrstuvwxyz]{12}$/
const refused = (error: string, message: string, status = 400): Answered => ({ status, body: { error, message } })

export async function startBluesky(): Promise<BlueskyServer> {
  const records: MadeRecord[] = []
  const removed: MadeRecord[] = []
  const blobs: BlueskyServer['blobs'] = new Map()
  const counts = { likeCount: 0, replyCount: 0, repostCount: 0, quoteCount: 0 }
  const state = { password: 'abcd-efgh-ijkl-mnop', handle: testHandle, counts }
  const valid = { access: new Set<string>(), refresh: new Set<string>() }

  function openSession(): Answered {
    const [accessJwt, refreshJwt] = [
      `access.${randomBytes(8).toString('hex')}`,
      `refresh.${randomBytes(8).toString('hex')}`,
    ]
    valid.access.add(accessJwt)
    valid.refresh.add(refreshJwt)
    return { status: 200, body: { did: testDid, handle: state.handle, accessJwt, refreshJwt, active: true } }
  }

  /** The refusal of who isn't signed in, or what `route` answers. */
  const signedIn = (route: (asking: Asking) => Answered) => (asking: Asking) => {
    if (asking.token === undefined) return refused('AuthMissing', 'Authentication Required', 401)
    if (!asking.token.startsWith('access.')) return refused('InvalidToken', 'Bad token scope')
    if (!valid.access.has(asking.token)) return refused('ExpiredToken', 'Token has expired')
    return route(asking)
  }

  function uploadBlob({ headers, bytes }: Asking): Answered {
    const mimeType = headers['content-type']
    if (mimeType === undefined)
      return refused('InvalidRequest', 'Request encoding (Content-Type) required but not provided')
    if (headers['content-length'] !== String(bytes.length)) return refused('InvalidRequest', 'unknown body length')
    const link = `bafkrei${createHash('sha256').update(bytes).digest('hex').slice(0, 52)}`
    blobs.set(link, { bytes, mimeType })
    return { status: 200, body: { blob: { $type: 'blob', ref: { $link: link }, mimeType, size: bytes.length } } }
  }

  function createRecord({ json, headers }: Asking): Answered {
    if (!headers['content-type']?.startsWith('application/json'))
      return refused('InvalidRequest', 'Wrong request encoding')
    const { repo, collection, rkey, record } = json
    if (repo !== testDid) return refused('InvalidRequest', 'Could not find repo')
    if (collection !== 'app.bsky.feed.post') return refused('InvalidRequest', 'Invalid collection')
    if (!tid.test(rkey)) return refused('InvalidRequest', 'Invalid record key')
    const fault = faultOf(record, blobs) ?? faultOfReply(record, [...records, ...removed])
    if (fault !== null) return refused('InvalidRequest', `Invalid app.bsky.feed.post record: ${fault}`)
    // So the real one says that the record is there.
    if (records.some((one) => one.rkey === rkey)) return refused('InternalServerError', 'Internal Server Error', 500)
    records.push({ rkey, record })
    return { status: 200, body: { uri: uriOf(rkey), cid: cidOf(rkey), validationStatus: 'valid' } }
  }

  /** The answer leaves out posts that aren't there. */
  function getPosts({ query }: Asking): Answered {
    const uris = query.getAll('uris')
    if (uris.length === 0) return refused('InvalidRequest', 'Error: Params must have the property "uris"')
    if (uris.length > 25) return refused('InvalidRequest', 'Error: uris must not have more than 25 elements')
    if (uris.some((uri) => !/^at:\/\/did:[^/]+\/[\w.]+\/\w+$/.test(uri))) {
      return refused('InvalidRequest', 'Error: uris/0 must be a valid at-uri')
    }
    const found = records.filter(({ rkey }) => uris.includes(uriOf(rkey)))
    const posts = found.map(({ rkey, record }) => ({ uri: uriOf(rkey), cid: cidOf(rkey), record, ...state.counts }))
    return { status: 200, body: { posts } }
  }

  const server = await startProviderServer({
    'GET /xrpc/app.bsky.feed.getPosts': signedIn(getPosts),
    'POST /xrpc/com.atproto.server.createSession': ({ json }) => {
      const isRight = json?.identifier === state.handle && json.password === state.password
      return isRight ? openSession() : refused('AuthenticationRequired', 'Invalid identifier or password', 401)
    },
    'POST /xrpc/com.atproto.server.refreshSession': ({ token, bytes, headers }) => {
      if (bytes.length > 0 || headers['content-type'] !== undefined) {
        return refused('InvalidRequest', 'A request body was provided when none was expected')
      }
      if (token === undefined) return refused('AuthMissing', 'Authentication Required', 401)
      if (!token.startsWith('refresh.')) return refused('InvalidToken', 'Bad token scope')
      return valid.refresh.has(token) ? openSession() : refused('ExpiredToken', 'Token has been revoked')
    },
    'POST /xrpc/com.atproto.repo.uploadBlob': signedIn(uploadBlob),
    'POST /xrpc/com.atproto.repo.createRecord': signedIn(createRecord),
    'GET /xrpc/com.atproto.identity.resolveHandle': ({ query }) => {
      const did = knownHandles.get(query.get('handle') ?? '')
      return did === undefined ? refused('InvalidRequest', 'Unable to resolve handle') : { status: 200, body: { did } }
    },
    'GET /xrpc/com.atproto.repo.getRecord': ({ query }) => {
      const rkey = query.get('rkey')
      const isOurs = query.get('repo') === testDid && query.get('collection') === 'app.bsky.feed.post'
      const found = isOurs ? records.find((one) => one.rkey === rkey) : undefined
      if (found === undefined) return refused('RecordNotFound', `Could not locate record: ${uriOf(rkey ?? '')}`)
      return { status: 200, body: { uri: uriOf(found.rkey), cid: cidOf(found.rkey), value: found.record } }
    },
  })
  return Object.assign(server, {
    state,
    records,
    blobs,
    remove: (record: MadeRecord) => {
      removed.push(...records.splice(records.indexOf(record), 1))
    },
    expireAccess: () => valid.access.clear(),
    expireRefresh: () => valid.refresh.clear(),
  })
}

const uriOf = (rkey: string) => `at://${testDid}/app.bsky.feed.post/${rkey}`
const cidOf = (rkey: string) => `bafyrei${createHash('sha256').update(rkey).digest('hex').slice(0, 52)}`

/** A reply's root is that of the post that it answers. */
// biome-ignore lint/suspicious/noExplicitAny: it is what a client sent
function faultOfReply({ reply }: any, records: readonly MadeRecord[]): string | null {
  if (reply === undefined) return null
  // biome-ignore lint/suspicious/noExplicitAny: it is what a client sent
  const find = (to: any) => records.find(({ rkey }) => to?.uri === uriOf(rkey) && to.cid === cidOf(rkey))
  const [root, parent] = [find(reply.root), find(reply.parent)]
  if (root === undefined || parent === undefined) return 'Record/reply'
  return (parent.record.reply?.root.uri ?? reply.parent.uri) === reply.root.uri ? null : 'Record/reply/root'
}

/** The lexicon's objection to a post. */
// biome-ignore lint/suspicious/noExplicitAny: it is what a client sent
function faultOf(record: any, blobs: BlueskyServer['blobs']): string | null {
  if (record?.$type !== 'app.bsky.feed.post') return 'Record/$type'
  const { text, createdAt, facets = [], embed } = record
  if (typeof text !== 'string') return 'Record/text must be a string'
  const bytes = Buffer.from(text)
  if (bytes.length > 3000) return 'Record/text must not be longer than 3000 bytes'
  if ([...new Intl.Segmenter().segment(text)].length > 300) return 'Record/text must not be longer than 300 graphemes'
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(createdAt)) return 'Record/createdAt must be a datetime'
  for (const { index, features } of facets) {
    const isWithin = index.byteStart >= 0 && index.byteStart < index.byteEnd && index.byteEnd <= bytes.length
    if (!isWithin) return 'Record/facets/index'
    for (const { $type, uri, did } of features) {
      if ($type === 'app.bsky.richtext.facet#mention' && !/^did:[a-z]+:[\w.:%-]+$/.test(did)) {
        return 'Record/facets/features/did'
      }
      if ($type === 'app.bsky.richtext.facet#link' && !URL.canParse(uri)) return 'Record/facets/features/uri'
    }
  }
  return embed === undefined ? null : faultOfEmbed(embed, blobs)
}

// biome-ignore lint/suspicious/noExplicitAny: it is what a client sent
function faultOfEmbed(embed: any, blobs: BlueskyServer['blobs']): string | null {
  // biome-ignore lint/suspicious/noExplicitAny: it is what a client sent
  const judge = (blob: any, kind: RegExp, bytesMax: number, ratio: any): string | null => {
    const stored = blobs.get(blob?.ref?.$link)
    if (blob?.$type !== 'blob' || stored === undefined) return 'Could not find blob'
    if (stored.mimeType !== blob.mimeType || stored.bytes.length !== blob.size) return 'Referenced blob differs'
    if (!kind.test(blob.mimeType)) return 'Record/embed: mime type'
    if (blob.size > bytesMax) return 'This file is too large'
    const isRatio = ratio === undefined || (ratio.width >= 1 && ratio.height >= 1)
    return isRatio ? null : 'Record/embed/aspectRatio'
  }
  if (embed.$type === 'app.bsky.embed.images') {
    if (embed.images.length > 4) return 'Record/embed/images must not have more than 4 elements'
    for (const { image, alt, aspectRatio } of embed.images) {
      if (typeof alt !== 'string') return 'Record/embed/images/alt must be a string'
      const fault = judge(image, /^image\//, 2_000_000, aspectRatio)
      if (fault !== null) return fault
    }
    return null
  }
  if (embed.$type === 'app.bsky.embed.video') return judge(embed.video, /^video\/mp4$/, 300_000_000, embed.aspectRatio)
  if (embed.$type === 'app.bsky.embed.external') {
    const { uri, title, description, thumb } = embed.external
    if (!URL.canParse(uri)) return 'Record/embed/external/uri must be a uri'
    if (typeof title !== 'string') return 'Record/embed/external/title must be a string'
    if (typeof description !== 'string') return 'Record/embed/external/description must be a string'
    return thumb === undefined ? null : judge(thumb, /^image\//, 1_000_000, undefined)
  }
  return 'Record/embed'
}
