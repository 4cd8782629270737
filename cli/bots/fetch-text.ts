/** Gets a small text from the web: within a time and a number of bytes, over https, at most a few redirects further. */
import { Agent, request } from 'undici'
import { within } from '../../runtime/deadline.ts'
import { failureText } from '../../runtime/outbound/failure-text.ts'
import { readAtMost } from '../../runtime/outbound/read-at-most.ts'
import { isSecureUrl } from '../../runtime/secure-url.ts'
import {
  addressListBytesMax,
  addressListFetchMs,
  addressListRedirectsMax,
  addressListsAtOnceMax,
} from '../../schemas/limits/bot-limits.ts'

type Fetched =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly isMissing: boolean; readonly problem: string }

export interface TextFetcher {
  /** Never rejects. */
  fetch(url: string): Promise<Fetched>
  close(): Promise<void>
}

export function makeTextFetcher(signal: AbortSignal): TextFetcher {
  const agent = new Agent({ connections: addressListsAtOnceMax, pipelining: 1 })

  async function follow(start: string, deadline: AbortSignal): Promise<Fetched> {
    let url = new URL(start)
    for (let redirects = 0; redirects <= addressListRedirectsMax; redirects++) {
      if (!isSecureUrl(url)) return failure(`${url.origin} isn't https`)
      const { statusCode, headers, body } = await request(url, {
        headers: { 'user-agent': 'svc bots update', accept: 'application/json, text/plain, */*' },
        dispatcher: agent,
        signal: deadline,
      })
      const location = headers['location']
      if (statusCode >= 300 && statusCode < 400 && typeof location === 'string') {
        await body.dump()
        if (!URL.canParse(location, url.href)) return failure('it redirects to nowhere')
        url = new URL(location, url)
        continue
      }
      if (statusCode !== 200) {
        await body.dump()
        return { ok: false, isMissing: statusCode === 404, problem: `${url.href} answered ${statusCode}` }
      }
      const { bytes, isWhole } = await readAtMost(body, addressListBytesMax)
      if (!isWhole) return failure(`it is larger than ${addressListBytesMax} bytes`)
      return { ok: true, text: bytes.toString('utf8') }
    }
    return failure(`it redirects more than ${addressListRedirectsMax} times`)
  }

  return {
    fetch: async (url) => {
      try {
        return await within(addressListFetchMs, signal, (deadline) => follow(url, deadline))
      } catch (error) {
        const { name, message, code } = error as NodeJS.ErrnoException
        if (name === 'TimeoutError') return failure(`no answer within ${addressListFetchMs / 1000} s`)
        return failure(typeof code === 'string' ? failureText(error) : message)
      }
    },
    close: () => agent.destroy(),
  }
}

function failure(problem: string): Fetched {
  return { ok: false, isMissing: false, problem }
}
