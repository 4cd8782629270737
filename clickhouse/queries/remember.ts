/**
 * Keeps answers to questions that can't change: those over generations of aggregates, which are immutable and named in the
 * question. What was counted anew is in another generation, and so asked by another question: nothing is ever invalidated.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { rememberedAnswersMax, rememberedRowsMax } from '../../schemas/limits.ts'
import type { ClickHouse } from '../client.ts'

type Query = Pick<ClickHouse, 'query'>['query']

/** The same reader; questions that are `isLasting` go out once, also when they are asked at the same time. */
export function rememberLasting<Reader extends Pick<ClickHouse, 'query'>>(reader: Reader): Reader {
  const answers = new LRUCache<string, Promise<unknown[]>>({ max: rememberedAnswersMax })
  const query: Query = async <Row>(...[sql, params = {}, options]: Parameters<Query>) => {
    if (options?.isLasting !== true) return reader.query<Row>(sql, params, options)
    const key = createHash('sha256').update(sql).update(JSON.stringify(params)).digest('base64')
    const known = answers.get(key)
    if (known !== undefined) return known as Promise<Row[]>
    const asked = reader.query<Row>(sql, params, options)
    answers.set(key, asked)
    try {
      const rows = await asked
      if (rows.length > rememberedRowsMax) answers.delete(key)
      return rows
    } catch (error) {
      answers.delete(key)
      throw error
    }
  }
  return { ...reader, query }
}
