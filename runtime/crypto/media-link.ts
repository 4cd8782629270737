/**
 * Links by which a platform fetches one file without a key. They name the file and their end, under an HMAC that only
 * SECRET_KEY can make. They need no row, and can't be taken back before their end.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveKey } from './derived-key.ts'

export interface LinkedMedia {
  readonly workspaceId: number
  readonly mediaId: number
}

export interface MediaLinks {
  /** The path of the link under the API's root. Times are milliseconds since 1970. */
  path(file: LinkedMedia, endsAt: number): string
  /** @param path of any request. @returns undefined for other paths, null where the link isn't ours or has ended */
  read(path: string, now: number): LinkedMedia | null | undefined
}

/** Workspace, asset, end in seconds since 1970, and HMAC-SHA-256 of the three in base64url. */
const shape = /^\/media\/(\d{1,15})\.(\d{1,15})\.(\d{1,12})\.([\w-]{43})$/

export function makeMediaLinks(secretKey: string): MediaLinks {
  const key = deriveKey(secretKey, 'links to media')
  const macOf = (claims: string) => createHmac('sha256', key).update(claims).digest()
  return {
    path({ workspaceId, mediaId }, endsAt) {
      const claims = `${workspaceId}.${mediaId}.${Math.floor(endsAt / 1000)}`
      return `/media/${claims}.${macOf(claims).toString('base64url')}`
    },
    read(path, now) {
      const [, workspaceId, mediaId, end, mac] = shape.exec(path) ?? []
      if (mac === undefined) return path.startsWith('/media/') ? null : undefined
      const isOurs = timingSafeEqual(Buffer.from(mac, 'base64url'), macOf(`${workspaceId}.${mediaId}.${end}`))
      if (!isOurs || Number(end) * 1000 <= now) return null
      return { workspaceId: Number(workspaceId), mediaId: Number(mediaId) }
    },
  }
}
