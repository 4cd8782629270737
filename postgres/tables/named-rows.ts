/** Rows of small tables whose name is unique in a workspace, such as segments and goals. */
import type { Queryable } from '../client.ts'
import { rowsById, type SmallTable } from './rows-by-id.ts'

export interface NamedRow {
  readonly id: number
  readonly name: string
  readonly created_at: Date
}

/** The part of a row that somebody chooses. */
export type Chosen<Row> = Omit<Row, 'id' | 'created_at'>

interface TableOf<Row> {
  /** The columns of the answers, as in a SELECT. */
  readonly columns: string
  readonly order: string
  /** The values that are written for a row, by column. */
  values(row: Chosen<Row>): Readonly<Record<string, unknown>>
  /** Which other row can't stand beside a changed one, whose values are the parameters from $3 on. */
  readonly isSame?: string
}

export type NamedRows<Row extends NamedRow> = ReturnType<typeof namedRows<Row>>

/** Locking and removing by id come from `rowsById`. */
export function namedRows<Row extends NamedRow>(
  table: SmallTable,
  { columns, order, values, isSame = 'name = $3' }: TableOf<Row>,
) {
  return {
    ...rowsById<Row>(table, columns),

    /** All of them: there are few. */
    list: (q: Queryable, workspaceId: number) =>
      q.query<Row>(`SELECT ${columns} FROM ${table} WHERE workspace_id = $1 ORDER BY ${order}`, [workspaceId]),

    /** @returns null where there is the same row */
    async insert(tx: Queryable, workspaceId: number, row: Chosen<Row>): Promise<Row | null> {
      const written = values(row)
      const names = Object.keys(written)
      const [made] = await tx.query<Row>(
        `INSERT INTO ${table} (workspace_id, ${names.join(', ')}) VALUES ($1, ${names.map((_, at) => `$${at + 2}`).join(', ')})
         ON CONFLICT DO NOTHING RETURNING ${columns}`,
        [workspaceId, ...Object.values(written)],
      )
      return made ?? null
    },

    /** The workspace is locked. @returns null where another row is the same */
    async update(tx: Queryable, workspaceId: number, id: number, row: Chosen<Row>): Promise<Row | null> {
      const written = values(row)
      const changes = Object.keys(written).map((name, at) => `${name} = $${at + 3}`)
      const [changed] = await tx.query<Row>(
        `UPDATE ${table} SET ${changes.join(', ')}
         WHERE workspace_id = $1 AND id = $2
           AND NOT EXISTS (SELECT 1 FROM ${table} WHERE workspace_id = $1 AND id <> $2 AND (${isSame}))
         RETURNING ${columns}`,
        [workspaceId, id, ...Object.values(written)],
      )
      return changed ?? null
    },
  }
}
