/** The lines of a file of events, in our format or another product's, each with its events. */

import { parseJsonBody } from '../../schemas/json-body.ts'
import { importedLineBytesMax, importedVisitBytesMax } from '../../schemas/limits/event-limits.ts'
import { linesOf, openText, type TextFile } from '../replay/read-lines.ts'
import { makeGa4Mapper } from './from-ga4.ts'
import { makeMatomoMapper } from './from-matomo.ts'
import { fromOwnFormat } from './from-own-format.ts'
import { makePlausibleMapper } from './from-plausible.ts'
import { fromPosthog } from './from-posthog.ts'
import { fromUmami } from './from-umami.ts'
import { type Mapped, textOf } from './imported-event.ts'
import { type CsvRow, readCsvRows } from './read-csv.ts'
import { readJsonObjects } from './read-json-objects.ts'
import { makeEventData } from './umami-event-data.ts'

export const products = ['plausible', 'umami', 'posthog', 'matomo', 'ga4'] as const
export type Product = (typeof products)[number]

export interface HistoryLine {
  /** In the file, from 1 on: of a visit, where the file has visits. */
  readonly number: number
  readonly mapped: Mapped
  /** As it stands there, for the id of an event without one. */
  readonly text: Buffer
}

interface HistoryFile {
  readonly lines: AsyncIterable<HistoryLine[]>
  bytesRead(): number
}

/** Opens one of the files of an import. @throws CommandFailed naming the file, when it can't be opened */
export type OpenHistory = (path: string) => Promise<HistoryFile>

interface ReaderOptions {
  /** Umami: the origin of pages that name none. */
  readonly site?: string | undefined
  /** Umami: the file of its `event_data`, which is to be opened before those of events. */
  readonly dataPath?: string | undefined
  /** Google Analytics: names of events that are conversions. */
  readonly conversions?: readonly string[] | undefined
}

/** Lines of all files of an import, which is to be opened by one reader. */
export function makeHistoryReader(product: Product | undefined, options: ReaderOptions): OpenHistory {
  const linesOfFile = makeLines(product, options)
  return async (path) => {
    const file = await openText(path)
    return { lines: linesOfFile(path, file), bytesRead: file.bytesRead }
  }
}

type ReadLines = (path: string, file: TextFile) => AsyncIterable<HistoryLine[]>

function makeLines(product: Product | undefined, { site, dataPath, conversions }: ReaderOptions): ReadLines {
  switch (product) {
    case undefined:
      return (path, file) => jsonLines(path, file, fromOwnFormat)
    case 'plausible': {
      const map = makePlausibleMapper()
      return (path, file) => jsonLines(path, file, map)
    }
    case 'posthog':
      return (path, file) => jsonLines(path, file, fromPosthog)
    case 'ga4': {
      const map = makeGa4Mapper(conversions)
      return (path, file) => jsonLines(path, file, map)
    }
    case 'matomo': {
      const map = makeMatomoMapper()
      return (path, file) => visits(path, file, map)
    }
    case 'umami':
      return umamiLines(site, dataPath)
  }
}

function umamiLines(site: string | undefined, dataPath: string | undefined): ReadLines {
  const refuseOtherWebsite = makeWebsiteCheck()
  const data = makeEventData()
  const mapRow = ({ line, isWhole }: CsvRow): Mapped => {
    if (!isWhole) return { refused: 'the line has another number of cells than the first one' }
    const mapped = fromUmami(line, site, data.take)
    // Links and pixels stand there under ids of their own.
    return 'leftOut' in mapped ? mapped : (refuseOtherWebsite(line) ?? mapped)
  }
  return (path, file) => csvLines(path, file, path === dataPath ? data.keep : mapRow)
}

async function* jsonLines(
  path: string,
  file: TextFile,
  map: (value: unknown) => Mapped,
): AsyncGenerator<HistoryLine[]> {
  let number = 0
  for await (const { found } of linesOf(path, file, importedLineBytesMax)) {
    const lines: HistoryLine[] = []
    for (const text of found) {
      number++
      if (text === null) {
        const refused = `the line is longer than ${importedLineBytesMax} bytes`
        lines.push({ number, mapped: { refused }, text: Buffer.alloc(0) })
      } else if (!isBlank(text)) lines.push({ number, mapped: mapText(text, map), text })
    }
    yield lines
  }
}

function mapText(text: Buffer, map: (value: unknown) => Mapped): Mapped {
  const parsed = parseJsonBody(text)
  if (parsed.ok) return map(parsed.value)
  return { refused: parsed.status === 400 ? 'the line is no UTF-8, or too deep' : 'the line is no valid JSON' }
}

/** Each event has an id of its own. */
async function* visits(path: string, file: TextFile, map: (value: unknown) => Mapped): AsyncGenerator<HistoryLine[]> {
  let number = 0
  const refused = `the visit is longer than ${importedVisitBytesMax} bytes`
  for await (const found of readJsonObjects(path, file, importedVisitBytesMax)) {
    yield found.map((text) => ({
      number: ++number,
      mapped: text === null ? { refused } : mapText(text, map),
      text: Buffer.alloc(0),
    }))
  }
}

function isBlank(text: Buffer): boolean {
  return text.every((byte) => byte === 0x20 || byte === 0x09)
}

async function* csvLines(path: string, file: TextFile, map: (row: CsvRow) => Mapped): AsyncGenerator<HistoryLine[]> {
  try {
    for await (const rows of readCsvRows(path, file.text, importedLineBytesMax)) {
      // Each event has an id of its own.
      yield rows.map((row) => ({ number: row.number, mapped: map(row), text: Buffer.alloc(0) }))
    }
  } finally {
    file.close()
  }
}

/** The table holds all websites of an installation, and a workspace is one. */
function makeWebsiteCheck(): (line: CsvRow['line']) => Mapped | undefined {
  let first: string | undefined
  return (line) => {
    const website = textOf(line['website_id'])
    first ??= website
    return website === first ? undefined : { refused: `website_id: not ${first}, as the first line has` }
  }
}
