/**
 * Loads the rows of a request's body into a temporary file, and from there by one INSERT … SELECT FROM file(…). This
 * is the engine's fast way in. All rows of a partition become one block, so that a token stands for all of them, as in
 * a server. Held by test/integration/embedded-clickhouse.test.ts.
 */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Answer, type Engine, quoteText } from './engine.ts'
import { bodyTooLarge, EngineError } from './engine-error.ts'
import type { Query, RowsInsert } from './request.ts'

const rowsBytesMax = 512 * 2 ** 20

/** A server's defaults for an insert, and a single block; nicer than statements that somebody waits for. */
const insertSettings: readonly (readonly [string, string])[] = [
  ['os_thread_priority', '10'],
  ['async_insert', '0'],
  ['max_threads', '1'],
  ['max_insert_threads', '1'],
  ['input_format_parallel_parsing', '0'],
  ['min_insert_block_size_rows', String(2 ** 32)],
  ['min_insert_block_size_bytes', String(2 ** 40)],
  // A token must count, or the insert must fail: never be ignored.
  ['deduplicate_insert_select', 'force_enable'],
]

export interface RowsLoader {
  /** To be called after every statement that may have changed a table's columns. */
  tablesChanged(): void
  load(request: IncomingMessage, query: Query, insert: RowsInsert, isWanted: () => boolean): Promise<Answer>
}

export function makeRowsLoader(engine: Engine, folder: string): RowsLoader {
  /** By database and table, the types of the columns that rows may hold; a new one whenever tables change. */
  let typesByTable = new Map<string, ReadonlyMap<string, string>>()

  async function load(
    request: IncomingMessage,
    query: Query,
    insert: RowsInsert,
    isWanted: () => boolean,
  ): Promise<Answer> {
    const path = join(folder, randomUUID())
    try {
      await pipeline(request, limit, createWriteStream(path, { mode: 0o600 }))
      const { columns, structure } = await describe(query.database, insert, isWanted)
      const into = columns.length > 0 ? ` (${columns.map((name) => `\`${name}\``).join(', ')})` : ''
      const where = insert.where === undefined ? '' : ` WHERE ${insert.where}`
      const settings = new Map([...query.settings, ...insertSettings])
      const sql = `INSERT INTO ${insert.table}${into} SELECT * FROM file(${quoteText(path)}, ${insert.format}, ${quoteText(structure)})${where}`
      return await engine.run({ ...query, sql, format: 'TabSeparated', settings, isInsert: true, isWanted })
    } finally {
      await rm(path, { force: true })
    }
  }

  /** The columns of the table that the rows hold, as the structure of the file. */
  async function describe(
    database: string,
    insert: RowsInsert,
    isWanted: () => boolean,
  ): Promise<{ columns: string[]; structure: string }> {
    const types = await typesOf(database, insert.table, isWanted)
    const columns = insert.columns.length > 0 ? insert.columns : [...types.keys()]
    const structure = columns.map((name) => {
      const type = types.get(name)
      if (!type) throw new EngineError(16, `No such column ${name} in table ${insert.table}`, 'NO_SUCH_COLUMN_IN_TABLE')
      return `\`${name}\` ${type}`
    })
    return { columns: insert.columns.length > 0 ? columns : [], structure: structure.join(', ') }
  }

  async function typesOf(
    database: string,
    table: string,
    isWanted: () => boolean,
  ): Promise<ReadonlyMap<string, string>> {
    const key = JSON.stringify([database, table])
    const known = typesByTable.get(key)
    if (known !== undefined) return known
    // If the tables change before the answer is here, this map has been replaced.
    const asOfNow = typesByTable
    const sql = `DESCRIBE TABLE ${table}`
    const plain = { settings: new Map(), params: new Map(), isInsert: true, isWanted }
    const { bytes } = await engine.run({ sql, format: 'JSONCompact', database, ...plain })
    const rows = JSON.parse(Buffer.from(bytes).toString('utf8')).data as string[][]
    const found = new Map(rows.filter((row) => !/MATERIALIZED|ALIAS/.test(row[2]!)).map((row) => [row[0]!, row[1]!]))
    asOfNow.set(key, found)
    return found
  }

  return {
    load,
    tablesChanged: () => {
      typesByTable = new Map()
    },
  }
}

async function* limit(source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let length = 0
  for await (const piece of source) {
    length += piece.length
    if (length > rowsBytesMax) throw bodyTooLarge(rowsBytesMax)
    yield piece
  }
}
