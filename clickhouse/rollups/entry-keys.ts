/**
 * Keys of breakdowns that a session has from its first event. docs/metrics.md ("Sessions by one property") says what they are.
 * Held by test/property/entry-breakdown.test.ts.
 */
import { breakdownKeyLengthMax } from '../../schemas/limits/overview-limits.ts'
import { screenClasses } from '../../schemas/reference/screen-classes.ts'
import { hostOfUrl } from './event-sql.ts'

/** SQL of what an event's keys are made of, in the order that `entryKeysOf` reads. */
export const keyColumns = 'toString(url),toString(referrer),toString(content),toString(language),screen_width'

/**
 * A language tag has the language and, behind other subtags of three or four letters, the region. A script and what follows the
 * region are left out: reports are about languages and countries.
 */
const languageTag = '^([A-Za-z]{2,3})(?:(?:[-_][A-Za-z]{3,4})*[-_]([A-Za-z]{2}|[0-9]{3}))?(?:[-_].*)?$'

/**
 * SQL of the keys: hostname, referrer, content, language, screen.
 * @param entry a tuple with the `sourceKey` of the first event, and its `keyColumns` from the place `from` on
 */
export function entryKeysOf(entry: string, from: number): string {
  const [url, referrer, content, tag, width] = [0, 1, 2, 3, 4].map((at) => `${entry}.${from + at}`) as [
    url: string,
    referrer: string,
    content: string,
    tag: string,
    width: string,
  ]
  const language = `extractGroups(${tag},'${languageTag}')`
  const shownHost = `replaceRegexpOne(${hostOfUrl(referrer)},'^www[.]','')`
  // Ingest has decided which referrers bring visits: not those of the own site, of payment and of sign-in.
  const isOther = `${entry}.1!='direct' AND ${hostOfUrl(referrer)} NOT IN ('',${hostOfUrl(url)})`
  const classes = screenClasses.map(({ key, widthMin }) => `${width}>=${widthMin},'${key}'`)
  const keys = [
    hostOfUrl(url),
    `if(${isOther},concat(${shownHost},trimRight(path(${referrer}),'/')),'')`,
    content,
    `if(empty(${language}),'unknown',concat(lower(${language}[1]),if(${language}[2]='','',concat('-',upper(${language}[2])))))`,
    `multiIf(${width}=0,'unknown',${classes.join(',')},'')`,
  ]
  return keys.map((key) => `substringUTF8(${key},1,${breakdownKeyLengthMax})`).join(',')
}
