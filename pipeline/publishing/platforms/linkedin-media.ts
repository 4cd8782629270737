/**
 * Files for posts on LinkedIn. It names the address that each is sent to, and for videos the parts (LinkedIn's
 * documentation: "Images API", "Videos API"). A post with a video waits until LinkedIn has worked on it.
 */
import { linkedinPollMs, providerRequestMs, providerUploadMs } from '../../../schemas/limits/publish-limits.ts'
import { ProviderError, type PublishedMedia } from '../adapter.ts'
import { partBody, type SentBody } from '../media-body.ts'
import { type Answer, askProvider, cutText, objectIn, odd, textIn } from '../request.ts'
import { ask, type Calling } from './linkedin-api.ts'

/** @param owner who will publish it. @returns the image's URN. @throws ProviderError */
export async function uploadImage(
  call: Calling,
  owner: string,
  file: SentBody,
  deadlineMs = providerUploadMs,
): Promise<string> {
  const asked = { json: { initializeUploadRequest: { owner } }, deadlineMs: Math.min(deadlineMs, providerRequestMs) }
  const { body } = await ask(call, '/rest/images?action=initializeUpload', { method: 'POST', ...asked })
  const value = objectIn(body, 'value')
  await put(call, textIn(value, 'uploadUrl'), file, deadlineMs)
  return textIn(value, 'image')
}

/** @param owner who will publish it. @returns the video's URN, once it can be published. @throws ProviderError */
export async function uploadVideo(call: Calling, owner: string, file: PublishedMedia): Promise<string> {
  const json = {
    initializeUploadRequest: { owner, fileSizeBytes: file.bytes, uploadCaptions: false, uploadThumbnail: false },
  }
  const { body } = await ask(call, '/rest/videos?action=initializeUpload', { method: 'POST', json })
  const value = objectIn(body, 'value')
  const video = textIn(value, 'video')
  const uploadedPartIds: string[] = []
  for (const { url, first, last } of partsIn(value, file.bytes)) {
    const id = (await put(call, url, partBody(file, first, last), providerUploadMs)).header('etag')
    if (id === undefined) throw odd("The platform's answer has no ETag of the part")
    uploadedPartIds.push(id)
  }
  const finalizeUploadRequest = { video, uploadToken: String(value['uploadToken'] ?? ''), uploadedPartIds }
  await ask(call, '/rest/videos?action=finalizeUpload', { method: 'POST', json: { finalizeUploadRequest } })
  await untilAvailable(call, video)
  return video
}

/** The parts follow one another and make up the file, so there are at most as many as an answer can name. */
function partsIn(value: Readonly<Record<string, unknown>>, bytes: number) {
  let next = 0
  const parts = Object.values(objectIn(value, 'uploadInstructions')).map((instruction) => {
    const { uploadUrl, firstByte, lastByte } = instruction as Record<string, unknown>
    const isNext = firstByte === next && Number.isSafeInteger(lastByte) && (lastByte as number) >= next
    if (!isNext || typeof uploadUrl !== 'string') throw odd("The platform's parts aren't those of the file")
    next = (lastByte as number) + 1
    return { url: uploadUrl, first: firstByte, last: lastByte as number }
  })
  if (next !== bytes) throw odd("The platform's parts aren't those of the file")
  return parts
}

/** The address comes from outside: only a public one is connected to, and only LinkedIn's own hosts get the token. */
function put(
  { credentials, fetching, signal }: Calling,
  url: string,
  file: SentBody,
  deadlineMs: number,
): Promise<Answer> {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' }
  if (protocol !== 'https:') throw odd('The platform names no https address to upload to')
  const token = /(^|\.)linkedin\.com$/.test(hostname) ? { token: credentials.accessToken } : {}
  return askProvider({ url, method: 'PUT', ...file, ...token, deadlineMs, signal, dispatcher: fetching.agent })
}

/** Ends with the attempt at the latest. */
async function untilAvailable(call: Calling, video: string): Promise<void> {
  for (;;) {
    const { body } = await ask(call, `/rest/videos/${encodeURIComponent(video)}`)
    const status = textIn(body, 'status')
    if (status === 'AVAILABLE') return
    if (status === 'PROCESSING_FAILED') {
      const reason = cutText(String(body['processingFailureReason'] ?? 'no reason given'))
      throw new ProviderError({ kind: 'permanent', code: 'refused' }, `LinkedIn can't play the video: ${reason}`)
    }
    await call.sleep(linkedinPollMs, call.signal)
    call.signal.throwIfAborted()
  }
}
