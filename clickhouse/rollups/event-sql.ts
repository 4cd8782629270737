/** SQL over `events` that the fold and the overview share: keys of lists, touches, time, and which events are seen. */

import type { IdRange } from '../../schemas/event/id-ranges.ts'
import { bounceEngagementMs } from '../../schemas/limits/figure-limits.ts'
import type { BoundSql } from '../bound-sql.ts'

/** Source and medium, and the keys of the breakdowns, as texts. */
export const sourceKey = "if(source = '', 'direct', toString(source))"
export const mediumKey = "if(source = '', 'none', toString(medium))"
export const deviceKey = 'toString(device)'
export const browserKey = "if(browser = '', 'unknown', toString(browser))"
export const countryKey = "if(country = toFixedString('', 2), 'unknown', toString(country))"

/** The operating system of a row of `sessions`. */
export const systemKey = "if(os='','unknown',toString(os))"

/** The same of its region and city. */
export const regionKey = "if(region='','unknown',toString(region))"
export const cityOfSession = "if(city='','unknown',toString(city))"

/** An event that a conversion can be credited to. */
export const isTouch = "source NOT IN ('', 'direct')"
/** An event by which its session is no bounce. */
export const isAct = "kind IN ('conversion', 'custom')"
export const isSample = "kind = 'web_vital' AND metric != 'none'"

/** Milliseconds since 1970. */
export const eventMs = 'toUnixTimestamp64Milli(occurred_at)'

/**
 * SQL of a URL's host, as `hostOf` of ingest reads it. `domain` is empty for hosts without a dot, and for addresses of IPv6.
 * The regular expression reads all of them, and takes ten times as long.
 */
export function hostOfUrl(url: string): string {
  const any = `replaceRegexpOne(extract(${url},'^[^/]+://(?:[^/?#]*@)?([[][^]/?#]*|[^/?#:]*)'),'^[[]','')`
  return `lowerUTF8(if(startsWith(${url},'https://') AND domain(${url})!='',domain(${url}),${any}))`
}

/** An event whose local day has a number of 16 bits in every timezone: others, which an import may bring, are in no figure. */
export const isDatable =
  "occurred_at >= toDateTime64('1970-01-05 00:00:00', 3, 'UTC') AND occurred_at < toDateTime64('2149-06-01 00:00:00', 3, 'UTC')"

/** Whether a session is a bounce, by its pageviews, its acts, and the milliseconds of its engagement (docs/metrics.md). */
export function isBounce(pageviews: number, acts: number, engagementMs: number): boolean {
  return pageviews === 1 && acts === 0 && engagementMs < bounceEngagementMs
}

/** SQL of the moment in the parameter `name`, given in milliseconds. */
export function moment(name: string): string {
  return `fromUnixTimestamp64Milli({${name}:Int64}, 'UTC')`
}

/** SQL condition: `id` is in `ranges`. `name` tells its parameters from those of other conditions of the statement. */
export function idsIn(ranges: readonly IdRange[], name: string): BoundSql {
  const params: Record<string, number> = {}
  const parts = ranges.map(({ from, through }, at) => {
    params[`${name}_from_${at}`] = from
    params[`${name}_through_${at}`] = through
    return `id BETWEEN {${name}_from_${at}:UInt64} AND {${name}_through_${at}:UInt64}`
  })
  return { sql: parts.length === 0 ? '0' : `(${parts.join(' OR ')})`, params }
}
