/**
 * One line of the Combined Log Format, as Apache and nginx write it:
 *
 *   address ident user [17/May/2015:10:05:03 +0000] "GET /path HTTP/1.1" 200 1234 "referrer" "user agent" …
 *
 * In quotes, `\"`, `\\` and `\xHH` stand for what a text can't hold. Fields after the user agent are ignored, and so is the
 * `host:port` that Apache's `vhost_combined` has in front.
 */
import { createHmac } from 'node:crypto'
import { isIP } from 'node:net'
import { urlLengthMax, userAgentLengthMax } from '../../schemas/limits/event-limits.ts'
import { cut } from '../imports/imported-event.ts'

export interface LogLine {
  readonly address: string
  /** Milliseconds since 1970 UTC; logs know whole seconds. */
  readonly time: number
  /** Empty, like `target`, if the request names no page: `OPTIONS *`, `CONNECT host:443`, or bytes that aren't HTTP. */
  readonly method: string
  /** Path and query, or a whole URL where the client was a proxy's. */
  readonly target: string
  readonly status: number
  /** Empty where the log has `-`. */
  readonly referrer: string
  readonly agent: string
}

// Each part is told from the next by its first character, so that no line takes more than linear time.
// The ident may have no dot and no colon. Otherwise a host in front would be taken for the address.
const sender = String.raw`(?:[^\s:]+:\d+ )?([^\s,]+) [^\s.:]+ [^[]+ \[`
const quoted = String.raw`"((?:[^"\\]|\\.)*)"`
const shape = new RegExp(
  String.raw`^${sender}(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)\] ${quoted} (\d{3}) \S+ ${quoted} ${quoted}`,
)
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** @returns undefined when the text is no such line */
export function parseLogLine(text: string): LogLine | undefined {
  const parts = shape.exec(text)
  if (parts === null) return undefined
  const [, address, day, monthName, year, hour, minute, second, sign, zoneHours, zoneMinutes, request, status] = parts
  if (address === '-' || (address!.includes(':') && isIP(address!) === 0)) return undefined
  const month = months.indexOf(monthName!)
  if (month === -1 || +day! < 1 || +day! > 31 || +hour! > 23 || +minute! > 59 || +second! > 60) return undefined
  const zone = (+zoneHours! * 60 + +zoneMinutes!) * 60_000 * (sign === '-' ? -1 : 1)
  const time = Date.UTC(+year!, month, +day!, +hour!, +minute!, +second!) - zone
  const asked = /^([A-Z]+) (\/\S*|https?:\/\/\S+)(?: HTTP\/[\d.]+)?$/.exec(unescapeLog(request!))
  const [method = '', target = ''] = asked?.slice(1) ?? []
  return {
    address: address!,
    time,
    method,
    target,
    status: +status!,
    referrer: readText(parts[13]!, urlLengthMax),
    agent: readText(parts[14]!, userAgentLengthMax),
  }
}

/**
 * The requested URL, cut as the browser script cuts it: ingest refuses events with longer ones.
 * @param site origin of the paths in the log
 */
export function urlOf({ target }: LogLine, site: string): string {
  return cut(/^https?:\/\//i.test(target) ? target : site + target, urlLengthMax)!
}

/**
 * The `client_event_id` of a line's event. Equal lines at one place in one run get the same id.
 * @param key what ids are hashed with
 * @param place the line's number, behind what is sent for it where that is no pageview
 * @param run names the placing in time
 */
export function eventIdOf(key: Buffer, place: string, run: string, text: string): string {
  return createHmac('sha256', key).update(`${place}\0${run}\0${text}`).digest('base64url')
}

function readText(text: string, lengthMax: number): string {
  return text === '-' ? '' : cut(unescapeLog(text), lengthMax)!
}

function unescapeLog(text: string): string {
  if (!text.includes('\\')) return text
  // \xHH are bytes of UTF-8: collect them as bytes, then read all as text.
  const bytes = Buffer.from(text, 'utf8')
    .toString('latin1')
    .replace(/\\(?:x([0-9A-Fa-f]{2})|(.))/g, (whole, hex?: string, char?: string) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
      return char === '"' || char === '\\' ? char : whole
    })
  // NUL can't be stored anywhere.
  return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\0', '\uFFFD')
}
