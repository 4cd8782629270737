/** Pages that are the same for all callers. They are built at the first request, cached compressed, and revalidated by ETag. */
import { makeStaticBody, type StaticBody, type StaticRequest, staticReply } from '../runtime/http/compression.ts'
import type { RequestHead } from '../runtime/http/head.ts'
import type { HttpReply } from '../runtime/http/reply.ts'

export interface PageSource {
  /** Its `Content-Type`. */
  readonly type: string
  read(): Promise<Buffer>
}

export type StaticPage = (head: Pick<RequestHead, 'headers'>) => Promise<HttpReply>

/** @param headers of every answer, besides its type */
export function staticPages(
  sources: Readonly<Record<string, PageSource>>,
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, StaticPage>> {
  return Object.fromEntries(
    Object.entries(sources).map(([path, { type, read }]) => {
      let made: Promise<StaticBody> | undefined
      const page: StaticPage = async (head) => {
        made ??= read()
          .then(makeStaticBody)
          .catch((error: unknown) => {
            // Read again at the next request: files may be out of reach for a moment.
            made = undefined
            throw error
          })
        return staticReply(await made, askedBy(head), { 'Content-Type': type, ...headers })
      }
      return [path, page]
    }),
  )
}

/** The forms that a request accepts, and the version that it has. */
export function askedBy({ headers }: Pick<RequestHead, 'headers'>): StaticRequest {
  return { acceptEncoding: headers.get('accept-encoding'), ifNoneMatch: headers.get('if-none-match') }
}
