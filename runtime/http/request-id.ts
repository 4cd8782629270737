/** The id under which one request is found in the log: the caller's own where it is usable, else a new one. */
import { randomBytes } from 'node:crypto'

export const requestIdLengthMax = 128

const usableId = `[A-Za-z0-9._:-]{1,${requestIdLengthMax}}`
const usable = new RegExp(`^${usableId}$`)
/** An id holds no blank, so the match takes linear time. */
const usableHeader = new RegExp(`^x-request-id:[ \\t]*(${usableId})[ \\t]*\\r?$`, 'im')

// Random once a process, counted from there: unique without asking for randomness each time.
const prefix = randomBytes(9).toString('base64url').replace(/_/g, '.')
let count = 0

/** Keeps `incoming` (the X-Request-Id header, empty when there is none) if it is a usable id; else makes one. */
export function requestIdOf(incoming: string): string {
  if (incoming !== '' && usable.test(incoming)) return incoming
  count += 1
  return `${prefix}-${count.toString(36)}`
}

/** The id of a request whose head no parser has read. */
export function requestIdInHead(head: string): string {
  return requestIdOf(usableHeader.exec(head)?.[1] ?? '')
}
