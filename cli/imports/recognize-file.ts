/**
 * Tells by its beginning which product a file comes from, so that a file of another one is named and not refused line by
 * line. Whatever isn't recognized is read as the command says.
 */
import { basename } from 'node:path'
import { isObject } from '../../schemas/json-object.ts'
import { CommandFailed, UsageError } from '../command.ts'
import { openText } from '../replay/read-lines.ts'
import type { Product } from './read-history.ts'

interface Recognized {
  /** `an export of …` */
  readonly description: string
  /** The product whose format it is, or our own; left out where it has no events. */
  readonly product?: Product | 'own'
  /** The way to take it up, where this command has none. */
  readonly instead?: string
}

/** Enough for the first line of each format. */
const beginningBytes = 64 * 1024
const sums = 'sums of visitors and views. No visits can be made of sums, so it can’t be imported'
const plausible: Recognized = {
  description: 'an export of Plausible’s settings or dashboard',
  instead: `it has ${sums}. A Plausible that you host yourself has events, too: docs/import.md#from-plausible`,
}

/** @throws CommandFailed or UsageError naming the file and what it is, where it isn't what the command says */
export async function refuseOtherFile(path: string, from: Product | undefined): Promise<void> {
  const found = recognize(await beginningOf(path), basename(path))
  if (found === undefined || found.product === (from ?? 'own')) return
  if (found.product === undefined) throw new CommandFailed(`${path} is ${found.description}: ${found.instead}`)
  const right = found.product === 'own' ? 'leave out --from' : `use --from ${found.product}`
  throw new UsageError(`${path} looks like ${found.description}: ${right}`)
}

/** @param name that of the file, without its folder */
export function recognize(beginning: Buffer, name: string): Recognized | undefined {
  if (beginning.subarray(0, 4).equals(Buffer.from('PK\x03\x04')))
    return { description: 'a ZIP archive', instead: 'unpack it, and name the files in it' }
  const text = beginning
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart()
  const [line = ''] = text.split('\n', 1)
  if (/^[[{]/.test(text)) return recognizeJson(text, line)
  if (/^\S+ \S+ \S+ \[\d\d\/\w{3}\/\d{4}:/.test(line))
    return { description: 'an access log', instead: `\`npx svc replay --import ${name}\` takes it` }
  return recognizeColumns(
    line.split(',').map((cell) => cell.trim().replace(/^"|"$/g, '').toLowerCase()),
    name,
  )
}

function recognizeJson(text: string, line: string): Recognized | undefined {
  // A list of visits may stand on one line that is longer than what was read.
  if (/^\[?\s*\{[^{[]*"idVisit"/.test(text)) return { description: 'Matomo’s list of visits', product: 'matomo' }
  const row = parse(line)
  if (!isObject(row)) return undefined
  const has = (...names: string[]) => names.every((name) => Object.hasOwn(row, name))
  if (has('event_timestamp', 'event_params'))
    return { description: 'Google Analytics’ export to BigQuery', product: 'ga4' }
  if (has('site_id', 'hostname', 'pathname', 'user_id'))
    return { description: 'Plausible’s table events_v2', product: 'plausible' }
  if (has('event', 'distinct_id', 'properties'))
    return { description: 'PostHog’s export of events', product: 'posthog' }
  return has('event_name', 'occurred_at') ? { description: 'events in our own format', product: 'own' } : undefined
}

function recognizeColumns(columns: readonly string[], name: string): Recognized | undefined {
  const has = (...names: string[]) => names.every((column) => columns.includes(column))
  // Umami Cloud's export uses the second name.
  if (has('website_event_id', 'data_key') || has('event_id', 'data_key'))
    return {
      description: 'Umami’s table event_data',
      instead: 'give it with --event-data, beside the file of website_event',
    }
  if (has('event_id', 'session_id', 'created_at'))
    return { description: 'Umami’s table website_event', product: 'umami' }
  if (/^imported_\w+\.csv/.test(name) || has('visitors', 'visit_duration') || has('visitors', 'bounce_rate'))
    return plausible
  const counted = [
    'visitors',
    'uniques',
    'unique visitors',
    'users',
    'active users',
    'views',
    'pageviews',
    'sessions',
    'visits',
  ]
  if (columns.length > 1 && counted.some((column) => columns.includes(column)))
    return { description: 'a table of figures', instead: `it has ${sums}: docs/import.md#from-others` }
  if (columns[0]?.startsWith('# ---'))
    return { description: 'a report of Google Analytics', instead: `it has ${sums}: docs/import.md#from-others` }
  return undefined
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Unpacked. A file that can't be read is left to the reader, which says so. */
async function beginningOf(path: string): Promise<Buffer> {
  const { text, close } = await openText(path)
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of text as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= beginningBytes) break
    }
  } catch {
    // The reader meets the same fault, behind the lines before it.
  } finally {
    close()
  }
  return Buffer.concat(chunks).subarray(0, beginningBytes)
}
