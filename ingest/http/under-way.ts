/** Requests that aren't answered yet, but for those that are answered at once. A server that closes waits for them. */
import type { HttpResponse } from '../../runtime/http/uws.ts'

export interface UnderWay {
  requests: number
  /** Connections are to end behind their answers. */
  isClosing: boolean
}

/** Lets the first answer through, unless the request was aborted before it. */
export type AnswerOnce = (send: () => void) => void

/**
 * Counts a request until it is answered or aborted. Must be called before the first await of the request.
 * @param whenAborted is called in either case, also after the answer
 */
export function beginRequest(response: HttpResponse, underWay: UnderWay, whenAborted: () => void): AnswerOnce {
  let isOver = false
  underWay.requests++
  const end = () => {
    isOver = true
    underWay.requests--
  }
  response.onAborted(() => {
    whenAborted()
    if (!isOver) end()
  })
  return (send) => {
    if (isOver) return
    end()
    send()
  }
}
