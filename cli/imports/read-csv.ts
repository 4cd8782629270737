/** Lines of a CSV file by the names in its first line, in constant memory. */
import { createReadStream, statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import type { ValidationError } from '../../schemas/errors/validation-errors.ts'
import type { Parsed } from '../../schemas/errors/zod-errors.ts'
import { importLineBytesMax, importLinesMax } from '../../schemas/limits/revenue-limits.ts'
import { CommandFailed, type Progress } from '../command.ts'

/** Cells of a line by column; empty cells are absent. */
export type CsvLine = Readonly<Record<string, string>>

export interface CsvImport<Value> {
  readonly path: string
  /** Names that may stand on the first line. */
  readonly columns: readonly string[]
  read(line: CsvLine): Parsed<Value>
  /** @param firstOf how many lines there are in all, with the first values */
  take(values: readonly Value[], firstOf: number | undefined): Promise<void>
  /** Values that are taken at a time. */
  readonly each: number
  readonly progress: Progress
  /** Nothing more is taken once it is aborted. */
  readonly signal: AbortSignal
}

/**
 * Reads a file twice, so that one with a wrong line changes nothing: first to its end, then each line to `take`.
 * @returns how many lines there are
 * @throws CommandFailed naming the file, the line and what is wrong with it
 */
export async function importCsv<Value>(of: CsvImport<Value>): Promise<number> {
  const { path, take, each, progress, signal } = of
  requireFile(path)
  let lines = 0
  for await (const value of valuesOf(of)) if (value !== undefined) lines++
  let firstOf: number | undefined = lines
  let some: Value[] = []
  let taken = 0
  const takeSome = async () => {
    signal.throwIfAborted()
    await take(some, firstOf)
    taken += some.length
    if (taken < lines) progress.running(`${taken} of ${lines} lines`)
    firstOf = undefined
    some = []
  }
  for await (const value of valuesOf(of)) if (some.push(value) === each) await takeSome()
  if (some.length > 0) await takeSome()
  return lines
}

/** A pipe can't be read twice. */
function requireFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) throw new CommandFailed(`there is no file ${path}`)
  if (!found.isFile()) {
    throw new CommandFailed(`${path} is no file: it is read twice, so write it to one first`)
  }
}

/** NUL, which Postgres can't hold, and what stands for bytes of another encoding. */
const unkeepable = ['\0', '\uFFFD'] as const

async function* valuesOf<Value>({ path, columns, read }: CsvImport<Value>): AsyncGenerator<Value> {
  let names: readonly string[] = []
  const parser = parse({
    bom: true,
    columns: (written: string[]) => (names = namesOf(path, written, columns)),
    trim: true,
    skip_empty_lines: true,
    // Spreadsheets save emptied rows as commas only.
    skip_records_with_empty_values: true,
    info: true,
    max_record_size: importLineBytesMax,
  })
  const file = createReadStream(path)
  file.on('error', (error) => parser.destroy(error))
  file.pipe(parser)
  let lines = 0
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: CsvLine; info: { lines: number } }>) {
      if (++lines > importLinesMax) throw new CommandFailed(`${path} has more than ${importLinesMax} lines`)
      const line = filled(record)
      const odd = Object.keys(line).find((name) => unkeepable.some((mark) => line[name]!.includes(mark)))
      if (odd !== undefined) throw new CommandFailed(`${path}, line ${info.lines}: ${odd}: isn't text in UTF-8`)
      const parsed = read(line)
      if (!parsed.ok) throw new CommandFailed(`${path}, ${faultOf(parsed.errors[0]!, info.lines, names)}`)
      yield parsed.value
    }
  } catch (error) {
    throw failureOf(path, error)
  } finally {
    file.destroy()
  }
  if (names.length === 0) throw new CommandFailed(`${path} has no line with the names of columns`)
}

/** A line of a file that needn't be right to its end. */
export interface CsvRow {
  /** The number of its last line in the file, from 1 on. */
  readonly number: number
  readonly line: CsvLine
  /** It has as many cells as the first line. */
  readonly isWhole: boolean
}

/** Lines that are handed on at a time. */
const rowsEach = 1_000
const charactersEach = 4 * 2 ** 20

/**
 * Reads a file once, from `text`, whatever its lines hold.
 * @param bytesMax of one line
 * @throws CommandFailed naming the file and the line, where one is too long: perhaps its quotes have no end
 */
export async function* readCsvRows(path: string, text: Readable, bytesMax: number): AsyncGenerator<CsvRow[]> {
  const parser = parse({
    bom: true,
    columns: (names: string[]) => namesOf(path, names, undefined),
    skip_empty_lines: true,
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: bytesMax,
  })
  text.on('error', (error) => parser.destroy(error))
  text.pipe(parser)
  let rows: CsvRow[] = []
  let characters = 0
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: CsvLine; info: CsvInfo }>) {
      rows.push({ number: info.lines, line: filled(record), isWhole: info.error === undefined })
      for (const text of Object.values(record)) characters += text.length
      if (rows.length < rowsEach && characters < charactersEach) continue
      yield rows
      rows = []
      characters = 0
    }
  } catch (error) {
    if (rows.length > 0) yield rows
    throw failureOf(path, error)
  } finally {
    text.destroy()
  }
  if (rows.length > 0) yield rows
}

interface CsvInfo {
  readonly lines: number
  readonly error?: unknown
}

function failureOf(path: string, error: unknown): CommandFailed {
  if (error instanceof CommandFailed) return error
  if (error instanceof CsvError) return new CommandFailed(`${path} can't be read as CSV: ${error.message}`)
  return new CommandFailed(`${path} can't be read: ${(error as Error).message}`)
}

function namesOf(path: string, written: readonly string[], known: readonly string[] | undefined): string[] {
  const names = written.map((name) => name.trim().toLowerCase())
  if (names.length === 1 && /[;\t]/.test(names[0]!))
    throw new CommandFailed(`${path}, line 1: columns are separated by commas`)
  const odd = known && names.find((name) => name !== '' && !known.includes(name))
  if (odd !== undefined) throw new CommandFailed(`${path} has a column \`${odd}\`: there are ${known!.join(', ')}`)
  // The later one would silently replace the other.
  const twice = known && names.find((name, at) => name !== '' && names.indexOf(name) !== at)
  if (twice !== undefined) throw new CommandFailed(`${path} has the column \`${twice}\` twice`)
  return names
}

function filled(record: CsvLine): CsvLine {
  return Object.fromEntries(Object.entries(record).filter(([, text]) => text !== ''))
}

/** A column that no line has is the fault of the first line. */
function faultOf({ type, loc, msg }: ValidationError, line: number, names: readonly string[]): string {
  const field = loc.slice(1).join('.')
  if (type === 'missing' && !names.includes(field)) return `line 1 has no column \`${field}\``
  return `line ${line}: ${field || 'the line'}: ${msg.replace(/^Value error, /, '')}`
}

/** A cell with a whole number becomes that number. */
export function withNumbers(line: CsvLine, names: readonly string[]): Record<string, unknown> {
  const isNumber = (name: string, text: string) => names.includes(name) && /^\d{1,15}$/.test(text)
  return Object.fromEntries(
    Object.entries(line).map(([name, text]) => [name, isNumber(name, text) ? Number(text) : text]),
  )
}
