/** Containers of Meta's APIs, as Threads and Instagram have them: files are fetched from where the client says. */
import type { Answered, Asking } from './provider-server.ts'

/** As Meta writes refusals. */
export const graphError = (code: number, message: string, more: object = {}): Answered => ({
  status: 400,
  body: { error: { message, type: 'OAuthException', code, fbtrace_id: 'A6LJylpZRKw', ...more } },
})
export const invalid = (message: string) => graphError(100, `(#100) ${message}`)
export const ok = (body: object): Answered => ({ status: 200, body })

/** Fetches as one from outside does. */
export type FetchFile = (url: string) => Promise<Response>

export interface MadeFile {
  readonly id: string
  readonly contentType: string
  readonly altText: string | undefined
  readonly bytes: Buffer
}

export interface MadePost {
  readonly id: string
  readonly text: string
  readonly link: string | undefined
  readonly media: readonly MadeFile[]
  readonly repliedTo?: string | undefined
  readonly createdAt: Date
}

interface Container {
  readonly text: string
  readonly repliedTo: string | undefined
  readonly files: readonly MadeFile[]
  readonly isItem: boolean
  readonly isUnfetched: boolean
  pollsLeft: number
  isPublished: boolean
}

export interface ContainerRules {
  readonly user: string
  readonly text: 'text' | 'caption'
  readonly textMax: number
  readonly status: 'status' | 'status_code'
  readonly reason: 'error_message' | 'status'
  readonly imageTypes: RegExp
  readonly itemsMax: number
  /** The `media_type` of what a post shows; undefined: it isn't sent. */
  readonly types: { readonly image: string | undefined; readonly video: string; readonly videoAlone: string }
  /** Whether a video has an alternative text. */
  readonly describesVideos: boolean
  readonly permalink: (id: string) => string
  /** As it lists a text. */
  readonly shown: (text: string) => string
  readonly fetchFile: FetchFile
  readonly canPlay: () => boolean
  readonly nextId: () => string
  readonly takesReplies: boolean
  /** Fields of each post beyond its own. */
  readonly counts: () => object
}

export function makeContainers(rules: ContainerRules) {
  const posts: MadePost[] = []
  const containers = new Map<string, Container>()

  async function fetched(url: string, kind: 'image' | 'video'): Promise<MadeFile | undefined> {
    if (!url.startsWith('https://')) return undefined
    const response = await rules.fetchFile(url)
    const contentType = response.headers.get('content-type') ?? ''
    const isRight = kind === 'image' ? rules.imageTypes.test(contentType) : /^video\/(mp4|quicktime)$/.test(contentType)
    if (response.status !== 200 || !isRight) return undefined
    const bytes = Buffer.from(await response.arrayBuffer())
    return { id: url, contentType, altText: undefined, bytes }
  }

  async function make(asking: Asking): Promise<Answered> {
    const { media_type: type, image_url, video_url, is_carousel_item, children, alt_text, ...more } = fieldsIn(asking)
    const { reply_to_id: repliedTo, ...others } = more
    const isReply = repliedTo !== undefined
    if (isReply && !(rules.takesReplies && posts.some(({ id }) => id === repliedTo))) return invalid('reply_to_id')
    const isItem = is_carousel_item === 'true'
    if (isItem && isReply) return invalid('reply_to_id')
    const text = others[rules.text] ?? ''
    const unknown = Object.keys(others).find((field) => field !== rules.text || isItem)
    if (unknown !== undefined) return invalid(`unknown parameter ${unknown}`)
    if ([...text].length > rules.textMax) return invalid('Param text is too long')
    const { types } = rules
    const container = (files: readonly MadeFile[], isVideo: boolean, isUnfetched = false): Answered => {
      const id = rules.nextId()
      containers.set(id, {
        text,
        repliedTo,
        files,
        isItem,
        isUnfetched,
        pollsLeft: isVideo ? 1 : 0,
        isPublished: false,
      })
      return ok({ id })
    }
    if (children !== undefined) {
      const items = children.split(',').map((id) => containers.get(id))
      if (type !== 'CAROUSEL' || items.length < 2 || items.length > rules.itemsMax) return invalid('children')
      if (items.some((item) => !item?.isItem || item.pollsLeft > 0)) return invalid('children are not ready')
      return container(
        items.flatMap((item) => item!.files),
        false,
      )
    }
    if (video_url !== undefined) {
      if (type !== (isItem ? types.video : types.videoAlone)) return invalid('media_type')
      if (alt_text !== undefined && !rules.describesVideos) return invalid('alt_text')
      const file = await fetched(video_url, 'video')
      return container(file === undefined ? [] : [{ ...file, altText: alt_text }], true, file === undefined)
    }
    if (image_url !== undefined) {
      if (type !== types.image) return invalid('media_type')
      const file = await fetched(image_url, 'image')
      const said = 'Only photo or video can be accepted as media type.'
      if (file === undefined)
        return graphError(9004, said, {
          error_subcode: 2207052,
          error_user_msg: 'The media could not be fetched from this URI',
        })
      if (file.bytes.length > 8_000_000)
        return graphError(36_000, 'The image size is too large.', { error_subcode: 2207004 })
      return container([{ ...file, altText: alt_text }], false)
    }
    return type === 'TEXT' && rules.text === 'text' && text !== '' ? container([], false) : invalid('media_type')
  }

  function publish(asking: Asking): Answered {
    const { creation_id: id = '', ...others } = fieldsIn(asking)
    const made = containers.get(id)
    if (Object.keys(others).length > 0 || made === undefined || made.isItem || made.isPublished) {
      return graphError(24, 'The requested resource does not exist', { error_subcode: 4279009 })
    }
    if (made.pollsLeft > 0) return graphError(9007, 'Media ID is not available', { error_subcode: 2207027 })
    made.isPublished = true
    const { text, repliedTo, files: media } = made
    posts.push({ id: rules.nextId(), text, repliedTo, link: undefined, media, createdAt: new Date() })
    return ok({ id: posts.at(-1)!.id })
  }

  const list = (asking: Asking) => listOf(false, asking)
  const listReplies = (asking: Asking) => listOf(true, asking)

  /** Newest first. */
  function listOf(areReplies: boolean, { query }: Asking): Answered {
    const limit = Number(query.get('limit') ?? 25)
    if (limit > 100) return invalid('limit')
    return ok({
      data: posts
        .filter(({ repliedTo }) => areReplies === (repliedTo !== undefined))
        .reverse()
        .slice(0, limit)
        .map((post) => asked(query, shown(post))),
      paging: {},
    })
  }

  const shown = ({ id, text, repliedTo, createdAt }: MadePost) => ({
    ...(posts.some((post) => post.id === repliedTo) && { replied_to: { id: repliedTo } }),
    id,
    [rules.text]: rules.shown(text),
    timestamp: createdAt.toISOString().replace(/\.\d+Z/, '+0000'),
    permalink: rules.permalink(id),
    ...rules.counts(),
  })

  /** A container or a post; undefined where it is neither. */
  function show({ id, query }: Asking): Answered | undefined {
    const post = posts.find((one) => one.id === id)
    if (post !== undefined) return ok(asked(query, shown(post)))
    const made = containers.get(id)
    if (made === undefined) return undefined
    const failed = made.isUnfetched ? 'FAILED_DOWNLOADING_VIDEO' : 'INVALID_FRAME_RATE'
    const isFailed =
      made.isUnfetched || (made.files.some(({ contentType }) => /video/.test(contentType)) && !rules.canPlay())
    const done = isFailed ? 'ERROR' : made.isPublished ? 'PUBLISHED' : 'FINISHED'
    const status = made.pollsLeft-- > 0 ? 'IN_PROGRESS' : done
    return ok(asked(query, { id, [rules.reason]: isFailed ? failed : undefined, [rules.status]: status }))
  }

  return { posts, make, publish, list, listReplies, show }
}

const fieldsOf = (query: URLSearchParams) =>
  (query.get('fields') ?? 'id').replace(/\{[^}]*\}|\.\w+\([^)]*\)/g, '').split(',')

export function asked(query: URLSearchParams, node: object): object {
  return Object.fromEntries(Object.entries(node).filter(([name]) => name === 'id' || fieldsOf(query).includes(name)))
}

export function fieldsIn({ headers, bytes }: Asking): Record<string, string> {
  const isForm = headers['content-type'] === 'application/x-www-form-urlencoded'
  return isForm ? Object.fromEntries(new URLSearchParams(bytes.toString())) : {}
}
