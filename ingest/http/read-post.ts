/** Reads a POST over uWebSockets.js: refuses what its head tells already, then reads its body within its bounds. */
import { type BodyBounds, droppedBytesMax } from '../../runtime/http/body-bounds.ts'
import { type Refusal, refusals } from '../../runtime/http/refusals.ts'
import type { HttpResponse } from '../../runtime/http/uws.ts'
import { readBody } from '../../runtime/http/uws-body.ts'
import type { RequestHead } from './request-head.ts'

export interface PostHandlers {
  /** @param isCut the answer's body has to be `cuttingBody`, since no further request may be read */
  refuse(refusal: Refusal, isCut: boolean): void
  /** The body is valid during this call only. */
  receive(body: Buffer): void
}

/**
 * Calls one of the handlers once. Must be called before the first await of the request.
 * @param head of this request, which has been read
 * @returns a function for the request's abort: neither is called any more
 */
export function readPost(
  response: HttpResponse,
  head: RequestHead,
  bounds: BodyBounds,
  { refuse, receive }: PostHandlers,
): () => void {
  const refusal = refusalOf(head, bounds.bytesMax)
  if (refusal !== null) {
    refuse(refusal, refusal === refusals.manyHosts || refusal === refusals.badFraming)
    return () => {}
  }
  return readBody(response, bounds, (body, rest) => {
    if (Buffer.isBuffer(body)) receive(body)
    // After the deadline the rest of the body isn't waited for.
    else if (body === refusals.bodyLate) refuse(body, false)
    else void rest!.end().then(() => refuse(body, false))
  })
}

function refusalOf(head: RequestHead, bytesMax: number): Refusal | null {
  if (!head.isFramed) return refusals.badFraming
  if (head.hasManyHosts) return refusals.manyHosts
  const length = Number(head.length)
  if (head.length !== '' && length > bytesMax) return { ...refusals.bodyTooLarge, closes: length > droppedBytesMax }
  return head.isEncoded ? refusals.encoding : null
}
