/**
 * Uploads of videos in parts (TikTok's documentation: "Media Transfer Guide"). TikTok names the publication and an
 * address for its video. It begins to publish once the last part has arrived. After a lost answer it is asked how many
 * bytes it has, and the rest goes to the same address, so that an upload is one publication.
 */
import {
  providerPollMs,
  providerUploadMs,
  tiktokFailuresMax,
  tiktokPartBytes,
} from '../../../schemas/limits/publish-limits.ts'
import { ProviderError, type PublishedMedia } from '../adapter.ts'
import { partBody } from '../media-body.ts'
import { type Answer, askProvider, odd, textIn } from '../request.ts'
import { type Calling, type Fields, post } from './tiktok-api.ts'
import { readStatus } from './tiktok-status.ts'

export interface Upload {
  readonly publishId: string
  readonly url: string
  readonly file: PublishedMedia
  readonly partBytes: number
  /** Where the last part begins: there is no post before that has arrived. */
  readonly lastStart: number
  /** Where the next part begins; the file's bytes once TikTok has all. */
  next: number
}

/** @param info the post's fields. @throws ProviderError */
export async function beginUpload(call: Calling, file: PublishedMedia, info: object): Promise<Upload> {
  const parts = Math.max(1, Math.floor(file.bytes / tiktokPartBytes))
  const partBytes = parts === 1 ? file.bytes : tiktokPartBytes
  const data = await post(call, 'video/init', {
    post_info: info,
    source_info: { source: 'FILE_UPLOAD', video_size: file.bytes, chunk_size: partBytes, total_chunk_count: parts },
  })
  const url = textIn(data, 'upload_url')
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:') {
    throw odd('The platform names no https address to upload to')
  }
  return { publishId: publishIdIn(data), url, file, partBytes, lastStart: (parts - 1) * partBytes, next: 0 }
}

/** Publications are asked for by it. */
function publishIdIn(fields: Fields): string {
  const id = textIn(fields, 'publish_id')
  if (/^[\w.~-]{1,128}$/.test(id)) return id
  throw odd("The platform's answer has a publish_id of another form")
}

/** Goes on where the upload is. @param end the file's, or the start of the last part. @throws ProviderError */
export async function sendUpTo(call: Calling, upload: Upload, end: number): Promise<void> {
  let failures = 0
  while (upload.next < end) {
    try {
      upload.next = await sendPart(call, upload)
      failures = 0
    } catch (error) {
      if (!(error instanceof ProviderError) || error.failure.kind !== 'transient') throw error
      if (++failures >= tiktokFailuresMax) throw error
      await call.sleep(providerPollMs, call.signal)
      call.signal.throwIfAborted()
      upload.next = await readProgress(call, upload)
    }
  }
}

/**
 * The address comes from outside: only a public one is connected to, and it doesn't get the token.
 * @returns where the part after it begins
 */
async function sendPart({ signal, fetching }: Calling, upload: Upload): Promise<number> {
  const { url, file, partBytes, lastStart, next: start } = upload
  const end = start === lastStart ? file.bytes : start + partBytes
  const { headers, body } = partBody(file, start, end - 1, file.contentType)
  const range = { 'content-range': `bytes ${start}-${end - 1}/${file.bytes}` }
  const sent = { url, method: 'PUT', headers: { ...headers, ...range }, body, deadlineMs: providerUploadMs } as const
  await askProvider({ ...sent, signal, dispatcher: fetching.agent, kindOf })
  return end
}

/** The upload's address has expired, refuses us, or holds another number of bytes: its status says how far it is. */
function kindOf({ status }: Answer) {
  return [401, 403, 404, 416].includes(status) ? 'transient' : undefined
}

/** @returns where the part begins that is to be sent next. @throws ProviderError */
async function readProgress(call: Calling, upload: Upload): Promise<number> {
  const { publishId, file, partBytes, lastStart, next } = upload
  const { failure, isUpload, receivedBytes = next } = await readStatus(call, publishId)
  if (failure !== null) throw failure
  if (!isUpload || receivedBytes === file.bytes) return file.bytes
  if (receivedBytes % partBytes === 0 && receivedBytes <= lastStart) return receivedBytes
  throw odd('The platform has only some bytes of a part of the file')
}
