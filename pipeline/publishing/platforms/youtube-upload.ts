/**
 * Uploads of videos in parts (Google's documentation: "YouTube Data API: Resumable Uploads"). YouTube names an address
 * for the upload. It answers each part with 308 and how far the bytes have arrived, and the last one with the video.
 * After a request that failed it is asked how far they have, so a lost answer to the last part isn't lost.
 */
import {
  providerPollMs,
  providerUploadMs,
  youtubeFailuresMax,
  youtubePartBytes,
} from '../../../schemas/limits/publish-limits.ts'
import { asUnpublished, ProviderError, type PublishedMedia } from '../adapter.ts'
import { partBody } from '../media-body.ts'
import { type Answer, odd } from '../request.ts'
import { ask, type Calling, type Fields } from './youtube-api.ts'

export interface Upload {
  readonly url: string
  readonly file: PublishedMedia
  /** How many of its bytes have arrived. */
  readonly received: number
}

const uploadApi = 'https://www.googleapis.com/upload/youtube/v3/videos?uploadType=resumable&part=snippet,status'
const unfinished = 308

/** @param video its fields. @returns the upload with all but the last part: there is no video before that. @throws ProviderError */
export async function beginUpload(call: Calling, file: PublishedMedia, video: object): Promise<Upload> {
  const headers = { 'x-upload-content-length': String(file.bytes), 'x-upload-content-type': file.contentType }
  const url = (await ask(call, { url: uploadApi, method: 'POST', headers, json: video })).header('location') ?? ''
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' }
  // The token goes there.
  if (protocol !== 'https:' || !/(^|\.)googleapis\.com$/.test(hostname)) {
    throw odd('The platform names no address of its own to upload to')
  }
  const end = Math.floor((file.bytes - 1) / youtubePartBytes) * youtubePartBytes
  const sent = await sendUpTo(call, { url, file, received: 0 }, end)
  if (typeof sent === 'number') return { url, file, received: sent }
  throw odd('The platform has a video before all of its bytes')
}

/** Sends the rest. @returns the video. @throws ProviderError, as unpublished where YouTube itself refuses it */
export async function endUpload(call: Calling, upload: Upload): Promise<Fields> {
  const sent = await sendUpTo(call, upload, upload.file.bytes)
  if (typeof sent !== 'number') return sent
  throw odd('The platform has all bytes, but no video')
}

/** @param end the file's, or that of a part. @returns the video, or how many bytes have arrived where it isn't the file's */
async function sendUpTo(call: Calling, { url, file, received }: Upload, end: number): Promise<Fields | number> {
  let isLost = false
  for (let failures = 0; received < end || end === file.bytes; ) {
    const isAsking = isLost || received === file.bytes
    try {
      const last = Math.min(received + youtubePartBytes, end) - 1
      const { headers = {}, body } = isAsking ? {} : partBody(file, received, last, file.contentType)
      const range = { 'content-range': `bytes ${isAsking ? '*' : `${received}-${last}`}/${file.bytes}` }
      const sent = { url, method: 'PUT', headers: { ...headers, ...range }, deadlineMs: providerUploadMs } as const
      const answer = await ask(call, body === undefined ? sent : { ...sent, body }, [unfinished])
      if (answer.status !== unfinished) return answer.body
      const arrived = receivedIn(answer)
      if (arrived < received || arrived > file.bytes) throw odd('The platform lost a part of the file')
      if (arrived > received) failures = 0
      else if (!isLost) failures++
      isLost = false
      received = arrived
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      if (error.failure.kind !== 'transient') throw isLost ? error : asUnpublished(error)
      if (++failures >= youtubeFailuresMax) throw error
      isLost = true
    }
    if (failures >= youtubeFailuresMax) throw odd("The platform doesn't take the file's bytes")
    if (failures > 0) await call.sleep(providerPollMs, call.signal)
    call.signal.throwIfAborted()
  }
  return received
}

/** Without the header nothing has arrived. */
function receivedIn({ header }: Answer): number {
  const range = header('range')
  if (range === undefined) return 0
  const last = /^bytes=0-(\d{1,15})$/.exec(range)?.[1]
  if (last === undefined) throw odd("The platform's answer doesn't say what has arrived")
  return Number(last) + 1
}
