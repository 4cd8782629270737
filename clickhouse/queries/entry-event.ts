/**
 * Properties that a session has from its first event alone: rows of `sessions` don't know them. docs/metrics.md
 * ("Sessions by one property") says what they are. Held by test/property/entry-breakdown.test.ts.
 */
import { breakdownKeyLengthMax } from '../../schemas/limits/overview-limits.ts'
import { screenClasses } from '../../schemas/reference/screen-classes.ts'
import type { EntryEventName } from '../../schemas/resources/breakdown.ts'
import { hostOfUrl, isTouch, moment } from '../rollups/event-sql.ts'
import { inWorkspace, isFolded } from './overview/figure-parts.ts'

/**
 * A language tag has the language and, behind other subtags of three or four letters, the region. A script and what follows the
 * region are left out: reports are about languages and countries.
 */
const languageTag = '^([A-Za-z]{2,3})(?:(?:[-_][A-Za-z]{3,4})*[-_]([A-Za-z]{2}|[0-9]{3}))?(?:[-_].*)?$'
const language = `extractGroups(toString(language),'${languageTag}')`

const shownHost = (url: string) => `replaceRegexpOne(${hostOfUrl(url)},'^www[.]','')`

const keys: Readonly<Record<EntryEventName, string>> = {
  hostname: hostOfUrl('url'),
  // Ingest has decided which referrers bring visits: not those of the own site, of payment and of sign-in.
  referrer: `if(${isTouch} AND ${hostOfUrl('referrer')} NOT IN ('',${hostOfUrl('url')}),concat(${shownHost('referrer')},trimRight(path(referrer),'/')),'')`,
  content: 'toString(content)',
  language: `if(empty(${language}),'unknown',concat(lower(${language}[1]),if(${language}[2]='','',concat('-',upper(${language}[2])))))`,
  screen: `multiIf(screen_width=0,'unknown',${screenClasses.map(({ key, widthMin }) => `screen_width>=${widthMin},'${key}'`).join(',')},'')`,
}

/**
 * Selects `visitor`, `key`, `is_bounce` and `session_ms` of sessions. The first of a session's events at the time of its
 * begin is its first event. Both are joined by a hash, in a third of the time that three columns take: see `eventIsOfChosen`
 * for how rarely one is taken for another's. The statement has `coverage` (`coverageSql`), and the moments `start` and `end`.
 * @param sessions selects `visitor`, `session`, `first_at`, `is_bounce` and `session_ms` of those that begin between the moments
 */
export function withEntryEvent(by: EntryEventName, sessions: string): string {
  const key = `substringUTF8(${keys[by]},1,${breakdownKeyLengthMax})`
  // Those that the key doesn't need aren't read. Keys are made of first events alone, behind the join.
  const columns = 'source,url,referrer,content,language,screen_width'
  const events = `SELECT cityHash64(visitor,session,occurred_at) AS entry,id,${columns} FROM events
    WHERE ${inWorkspace} AND visitor!=0 AND occurred_at>=${moment('start')} AND occurred_at<${moment('end')} AND ${isFolded}`
  const began = `SELECT cityHash64(visitor,session,first_at) AS entry,visitor,is_bounce,session_ms FROM (${sessions})`
  return `SELECT any(began.visitor) AS visitor,argMin(${key},id) AS key,any(began.is_bounce) AS is_bounce,any(began.session_ms) AS session_ms
    FROM (${events}) AS entries INNER JOIN (${began}) AS began USING (entry) GROUP BY entry`
}
