/** Inserts of rows: their statement, and the two ways in which one is refused for good. */
export interface Insert {
  table: string
  columns: readonly string[]
  /** Rows in `format`, in the order of `columns`; several pieces are one insert. */
  bytes: Uint8Array[]
  /** Default: RowBinary. */
  format?: 'RowBinary' | 'JSONCompactEachRow'
  /** A repeat under the same token within the table's window stores nothing. */
  token: string
  queryId: string
  deadlineMs: number
  fence?: Fence
}

/** Keeps out an insert that arrives late: the server judges it once the insert is among those that `killInsert` ends. */
export interface Fence {
  /** In SQL: where it holds, nothing is stored. The caller's own text, with no value from outside. */
  readonly holds: string
  /** Names and types of the rows' columns, as in a table's definition. */
  readonly structure: string
}

/** ClickHouse rejects the rows themselves, so a retry won't help. A part of them may have been stored. */
export class InsertRefused extends Error {
  override name = 'InsertRefused'
}

/** The insert's fence holds. */
export class InsertFenced extends Error {
  override name = 'InsertFenced'
}

/** The token stands in the text too, so that the server's query log shows it. */
export function insertStatement({ table, columns, format = 'RowBinary', token, fence }: Insert): string {
  const into = `INSERT INTO ${table} (${columns.join(', ')}) /* token ${token} */`
  if (fence === undefined) return `${into} FORMAT ${format}`
  const rows = `input('${fence.structure.replaceAll("'", "\\'")}')`
  return `${into} SELECT * FROM ${rows} WHERE throwIf(${fence.holds}) = 0 FORMAT ${format}`
}
