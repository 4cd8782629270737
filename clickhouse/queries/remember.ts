/**
 * Keeps answers to questions that can't change: those over generations of aggregates, which are immutable and named in the
 * question. What was counted anew is in another generation, and so asked by another question: nothing is ever invalidated.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { rememberedAnswerBytesMax, rememberedBytesMax } from '../../schemas/limits.ts'
import type { ClickHouse, QueryOptions } from '../client.ts'

/** The same reader; questions that are `isLasting` go out once, also when they are asked at the same time. */
export function rememberLasting<Reader extends Pick<ClickHouse, 'query'>>(reader: Reader): Reader {
  const asked = new Map<string, Promise<unknown[]>>()
  const answers = new LRUCache<string, unknown[]>({
    maxSize: rememberedBytesMax,
    maxEntrySize: rememberedAnswerBytesMax,
    sizeCalculation: sizeOf,
  })

  /** One question at a time for one answer. */
  async function askOnce<Row>(key: string, ask: () => Promise<Row[]>): Promise<Row[]> {
    const known = answers.get(key) ?? asked.get(key)
    if (known !== undefined) return known as Promise<Row[]>
    const asking = ask()
    asked.set(key, asking)
    try {
      const rows = await asking
      answers.set(key, rows)
      return rows
    } finally {
      asked.delete(key)
    }
  }

  /** Asks for those of a parameter's texts of which nothing is known. */
  async function askForNew<Row>(
    sql: string,
    params: Record<string, unknown>,
    { each, ...options }: QueryOptions<Row> & Required<Pick<QueryOptions<Row>, 'each'>>,
  ): Promise<Row[]> {
    const { parameter, of } = each
    const texts = params[parameter] as readonly string[]
    const keyOf = (text: string) => keyOfQuestion(sql, { ...params, [parameter]: [text] })
    const known = new Map(texts.map((text) => [text, answers.get(keyOf(text)) as Row[] | undefined]))
    const unknown = texts.filter((text) => known.get(text) === undefined)
    if (unknown.length > 0) {
      const rows = await reader.query<Row>(sql, { ...params, [parameter]: unknown }, options)
      for (const text of unknown) known.set(text, [])
      for (const row of rows) known.get(of(row))?.push(row)
      for (const text of unknown) answers.set(keyOf(text), known.get(text)!)
    }
    return texts.flatMap((text) => known.get(text) ?? [])
  }

  const query = async <Row>(
    sql: string,
    params: Record<string, unknown> = {},
    options: QueryOptions<Row> = {},
  ): Promise<Row[]> => {
    const { isLasting, each } = options
    if (isLasting !== true) return reader.query<Row>(sql, params, options)
    return askOnce(keyOfQuestion(sql, params), () =>
      each === undefined ? reader.query<Row>(sql, params, options) : askForNew(sql, params, { ...options, each }),
    )
  }
  return { ...reader, query }
}

function keyOfQuestion(sql: string, params: Record<string, unknown>): string {
  return createHash('sha256').update(sql).update(JSON.stringify(params)).digest('base64')
}

const objectBytes = 64
const valueBytes = 16

/** Bytes of memory, roughly. What knows its `size` is asked for it. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return valueBytes + value.length
  if (typeof value !== 'object' || value === null) return valueBytes
  if ('size' in value && typeof value.size === 'number') return objectBytes + value.size
  return Object.values(value).reduce<number>((sum, part) => sum + sizeOf(part), objectBytes)
}
