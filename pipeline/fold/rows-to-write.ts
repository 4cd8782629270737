/**
 * Derived rows on their way into ClickHouse. They are held as the bytes of their lines. A fold may write a hundred
 * thousand rows, whose many small lists would keep the garbage collector busy.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import {
  type CreditRow,
  creditColumns,
  insertLines,
  makeLiner,
  type SessionRow,
  sessionColumns,
  visitorColumns,
} from '../../clickhouse/rollups/tables.ts'
import type { DerivedRows } from './derive-rows.ts'

const tables = { visitors: visitorColumns, credits: creditColumns, sessions: sessionColumns } as const
type Table = keyof typeof tables

/** Characters of lines that become bytes at once. */
const pieceLength = 1_000_000

export class RowsToWrite {
  private readonly lines = {
    visitors: new Lines(visitorColumns),
    credits: new Lines(creditColumns),
    sessions: new Lines(sessionColumns),
  }
  /** Local days that have rows of `sessions` or `credits`, by build. */
  readonly days = new Map<number, Set<number>>()

  /** @param version in all rows */
  constructor(private readonly version: number) {}

  get sessions(): number {
    return this.lines.sessions.count
  }

  add({ sessions, visitors, credits }: DerivedRows): void {
    for (const row of visitors) this.append('visitors', row)
    for (const row of credits) this.append('credits', this.noted(row))
    for (const row of sessions) this.append('sessions', this.noted(row))
  }

  /** Visitors and credits first: nothing reads them for figures before the coverage includes them. */
  async insert(ch: Pick<ClickHouse, 'insertRows'>, coverage?: SessionRow): Promise<void> {
    if (coverage !== undefined) this.append('sessions', coverage)
    const insert = async (table: Table) => {
      const bytes = this.lines[table].end()
      if (bytes.length > 0) await insertLines(ch, table, tables[table], bytes, `fold-${this.version}`)
    }
    await Promise.all([insert('visitors'), insert('credits')])
    await insert('sessions')
  }

  private append(table: Table, row: object): void {
    this.lines[table].append(row)
  }

  private noted<Row extends SessionRow | CreditRow>(row: Row): Row {
    const days = this.days.get(row.build)
    if (days === undefined) this.days.set(row.build, new Set([row.day]))
    else days.add(row.day)
    return row
  }
}

class Lines {
  count = 0
  private text = ''
  private readonly pieces: Buffer[] = []
  private readonly lineOf: (row: object) => string

  constructor(columns: readonly string[]) {
    this.lineOf = makeLiner(columns)
  }

  append(row: object): void {
    this.count++
    this.text += this.lineOf(row)
    if (this.text.length >= pieceLength) this.cut()
  }

  end(): Buffer[] {
    if (this.text !== '') this.cut()
    return this.pieces
  }

  private cut(): void {
    this.pieces.push(Buffer.from(this.text))
    this.text = ''
  }
}
