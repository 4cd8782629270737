/**
 * A board on Pinterest, by an access token of its owner. Paths, fields and bounds are those of Pinterest's OpenAPI document
 * of its API v5, 2026. An access token holds for 30 days, and a refresh token gives the next one.
 *
 * Pinterest knows no key of ours. A video is uploaded before, and seen once a pin has it. Later attempts look for a pin of
 * this title and description among the board's newest.
 */

import type { Figures } from '../../../schemas/engagement.ts'
import { membersOf } from '../../../schemas/json-object.ts'
import {
  pinterestLinkLengthMax,
  pinterestListedMs,
  pinterestPinsEach,
  pinterestTitleLengthMax,
  providerClockOffMs,
  providerListBytesMax,
  providerUploadMs,
} from '../../../schemas/limits/publish-limits.ts'
import { linksIn } from '../../../schemas/reference/links-in-text.ts'
import { kindOf as mediaKindOf } from '../../../schemas/reference/providers.ts'
import {
  type Adapter,
  asRefused,
  type Call,
  type ErrorKind,
  type KnownIds,
  ProviderError,
  type Publication,
  type Published,
  type PublishedMedia,
} from '../adapter.ts'
import { comparable, cutTitle } from '../cut-text.ts'
import { firstOwn, lookTwice } from '../look-up.ts'
import { base64Body, formBody } from '../media-body.ts'
import { type Renewal, renewedBy, renewToken } from '../oauth2.ts'
import { pollUntil } from '../poll-until.ts'
import { type Answer, type Asked, askProvider, countIn, listIn, objectIn, odd, textIn } from '../request.ts'

export interface PinterestCredentials {
  readonly accessToken: string
  readonly renewal: Renewal | null
}

type Calling = Call<PinterestCredentials>
type Signed = Pick<Calling, 'credentials' | 'signal'>
type Fields = Readonly<Record<string, unknown>>

const api = 'https://api.pinterest.com/v5'
export const pinterestTokenUrl = `${api}/oauth/token`

/** `prepare` gives the id of the video, or null where there is none. */
export const pinterest: Adapter<PinterestCredentials, string | null> = {
  name: 'pinterest',

  lookUp: (call, publication, known) => lookTwice(pinterestListedMs, call, () => findPin(call, publication, known)),

  async prepare(call, { media }) {
    const video = media.find(isVideo)
    return video === undefined ? null : uploadVideo(call, video)
  },

  async publish(call, { title, text, media }, videoId) {
    const link = linksIn(text).find(({ url }) => URL.canParse(url) && url.length <= pinterestLinkLengthMax)?.url
    const altText = media.find((file) => file.altText !== '')?.altText
    const pin = {
      board_id: boardOf(call),
      title: cutTitle(title, pinterestTitleLengthMax),
      description: text,
      ...(altText !== undefined && { alt_text: altText }),
      ...(link !== undefined && { link }),
      media_source: sourceOf(media, videoId),
    }
    try {
      const sent = base64Body(pin, media)
      const { body } = await ask(call, '/pins', { method: 'POST', ...sent, deadlineMs: providerUploadMs })
      return publishedAs(idIn(body))
    } catch (error) {
      throw asRefused(error)
    }
  },

  async refresh({ credentials: { renewal }, signal }) {
    if (renewal === null) return null
    const body = await renewToken(pinterestTokenUrl, renewal, signal, { isBasic: true, kindOf })
    return { accessToken: textIn(body, 'access_token'), renewal: renewedBy(renewal, body) }
  },

  engagement: {
    postsPerRequest: 1,
    async read(call, [id]) {
      const { status, body } = await ask(call, `/pins/${id}?pin_metrics=true`, {}, [404])
      if (status !== 404)
        return new Map([[id!, figuresIn(membersOf(membersOf(body['pin_metrics'])['lifetime_metrics']))]])
      // A proxy's 404 isn't Pinterest's word.
      if (typeof body['code'] !== 'number') throw odd('The platform answered 404 without a code')
      return new Map([[id!, null]])
    },
  },
}

/** A pin is shared by saving it. Counts come a day or two late; before that there are none. */
function figuresIn({ reaction, comment, save, impression }: Fields): Figures {
  const [likes, comments, shares, views] = [reaction, comment, save, impression].map(countIn)
  return { likes: likes!, comments: comments!, shares: shares!, views: views! }
}

const isVideo = ({ contentType }: PublishedMedia) => mediaKindOf(contentType) === 'video'
const publishedAs = (id: string): Published => ({ externalId: id, url: `https://www.pinterest.com/pin/${id}/` })

function boardOf({ account: { metadata } }: Calling): string {
  const board = metadata['board_id']
  if (typeof board !== 'string') throw new Error('an account on Pinterest without its board')
  return board
}

/** Files stand in it as such. An image beside a video is its cover. */
function sourceOf(media: readonly PublishedMedia[], videoId: string | null): object {
  const images = media.filter((file) => !isVideo(file))
  const items = images.map((file) => ({ content_type: file.contentType, data: file }))
  const [first] = items
  if (videoId !== null) {
    const cover = first && { cover_image_content_type: first.content_type, cover_image_data: first.data }
    return { source_type: 'video_id', media_id: videoId, ...cover }
  }
  return items.length === 1
    ? { source_type: 'image_base64', ...first }
    : { source_type: 'multiple_image_base64', items }
}

/** Pinterest names the address that the file goes to, and fields beside it. @returns the video's id, once a pin can have it */
async function uploadVideo(call: Calling, file: PublishedMedia): Promise<string> {
  const { body } = await ask(call, '/media', { method: 'POST', json: { media_type: 'video' } })
  const [id, url] = [idIn(body, 'media_id'), textIn(body, 'upload_url')]
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:') {
    throw odd('The platform names no https address to upload to')
  }
  const fields = Object.entries(objectIn(body, 'upload_parameters')).map(([name, value]) => [name, String(value)])
  const form = formBody(file, Object.fromEntries(fields))
  const { signal, fetching } = call
  // The address comes from outside: only a public one is connected to, and it doesn't get the token.
  const sent = {
    url,
    method: 'POST',
    ...form,
    deadlineMs: providerUploadMs,
    signal,
    dispatcher: fetching.agent,
  } as const
  await askProvider(sent)
  await pollUntil(call, async () => {
    const status = textIn((await ask(call, `/media/${id}`)).body, 'status')
    if (status !== 'failed') return status === 'succeeded'
    throw new ProviderError({ kind: 'permanent', code: 'refused' }, "Pinterest can't process the video")
  })
  return id
}

/** @throws ProviderError as `unknown` where more was pinned since the first attempt than is listed */
async function findPin(
  call: Calling,
  { title, text, sentAt }: Publication,
  known: KnownIds,
): Promise<Published | null> {
  const from = (sentAt ?? new Date()).getTime() - providerClockOffMs
  const pins = await listPins(call, boardOf(call), pinterestPinsEach)
  const recent = pins.filter((pin) => timeOf(pin) >= from)
  const wanted = comparable(`${cutTitle(title, pinterestTitleLengthMax)}\n${text}`)
  const same = recent.filter((pin) => comparable(`${pin['title'] ?? ''}\n${pin['description'] ?? ''}`) === wanted)
  const ids = same.map((pin) => idIn(pin))
  const found = await firstOwn(ids, known, recent.length < pinterestPinsEach)
  return found === null ? null : publishedAs(found)
}

/** Times without an offset are UTC. */
function timeOf(pin: Fields): number {
  const text = textIn(pin, 'created_at')
  const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`)
  if (Number.isNaN(time)) throw odd("The platform's answer has no created_at")
  return time
}

/** A board's newest pins. */
async function listPins(call: Signed, board: string, count: number): Promise<Fields[]> {
  const { body } = await ask(call, `/boards/${board}/pins?page_size=${count}`, { answerBytesMax: providerListBytesMax })
  return listIn(body, 'items')
}

/** The account's boards, for it to choose from. @throws ProviderError */
export async function listBoards(call: Signed, count: number): Promise<{ id: string; name: string }[]> {
  const { body } = await ask(call, `/boards?page_size=${count}`)
  const boards = listIn(body, 'items')
  return boards.map((board) => ({ id: idIn(board), name: String(board['name'] || idIn(board)) }))
}

/** Ids are parts of paths and links. */
function idIn(fields: Fields, field = 'id'): string {
  const id = textIn(fields, field)
  if (/^\d{1,32}$/.test(id)) return id
  throw odd(`The platform's answer has an ${field} that isn't a number`)
}

/** @throws ProviderError */
function ask(
  { credentials, signal }: Signed,
  path: string,
  more: Omit<Asked, 'url' | 'token' | 'signal'> = {},
  expected: readonly number[] = [],
): Promise<Answer> {
  return askProvider({ ...more, url: api + path, token: credentials.accessToken, signal, kindOf }, expected)
}

/** Pinterest's own refusals have a code. By 403 it names a scope that is missing, or an app that may not pin. */
function kindOf({ status, body }: Answer): ErrorKind | undefined {
  return (status === 401 || status === 403) && typeof body['code'] === 'number' ? 'reauthenticate' : undefined
}

/**
 * Reads whose token it is, and the board's pins, as every look-up does.
 * @throws ProviderError where the token isn't accepted, or doesn't reach so far, or the board is another's
 */
export async function describePinterest(credentials: PinterestCredentials, board: string, signal: AbortSignal) {
  const call = { credentials, signal }
  const { body } = await ask(call, '/user_account')
  const [externalId, username] = [idIn(body), textIn(body, 'username')]
  const found = (await ask(call, `/boards/${board}`)).body
  if (membersOf(found['owner'])['username'] !== username) {
    throw new ProviderError({ kind: 'permanent', code: 'refused' }, `The board is none of ${username}'s`)
  }
  await listPins(call, board, 1)
  const displayName = String(body['business_name'] || username)
  const metadata = { board_id: idIn(found), board_name: String(found['name'] ?? '') }
  return { externalId, handle: username, displayName, metadata }
}
