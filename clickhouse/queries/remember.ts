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
  const query = async <Row>(
    sql: string,
    params: Record<string, unknown> = {},
    options?: QueryOptions<Row>,
  ): Promise<Row[]> => {
    if (options?.isLasting !== true) return reader.query<Row>(sql, params, options)
    const key = createHash('sha256').update(sql).update(JSON.stringify(params)).digest('base64')
    const known = answers.get(key) ?? asked.get(key)
    if (known !== undefined) return known as Promise<Row[]>
    const asking = reader.query<Row>(sql, params, options)
    asked.set(key, asking)
    try {
      const rows = await asking
      answers.set(key, rows)
      return rows
    } finally {
      asked.delete(key)
    }
  }
  return { ...reader, query }
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
