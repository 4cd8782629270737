/**
 * Keeps answers to questions that can't change: those over generations of aggregates, which are immutable and named in the
 * question. What was counted anew is in another generation, and so asked by another question: nothing is ever invalidated.
 * Where generations come all the time, what is known of those before is added to, and only the others are asked for.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { rememberedAnswerBytesMax, rememberedBytesMax } from '../../schemas/limits.ts'
import type { ClickHouse, Content, QueryOptions } from '../client.ts'

/** The same reader; questions that are `isLasting` go out once, also when they are asked at the same time. */
export function rememberLasting<Reader extends Pick<ClickHouse, 'query'>>(reader: Reader): Reader {
  const asked = new Map<string, Promise<unknown[]>>()
  const limits = { maxSize: rememberedBytesMax, maxEntrySize: rememberedAnswerBytesMax, sizeCalculation: sizeOf }
  /** Whole answers, and parts of them by a text of a list. */
  const answers = new LRUCache<string, Known<unknown>>(limits)

  /** One question at a time for one answer. */
  async function askOnce<Row>(key: string, ask: () => Promise<Row[]>): Promise<Row[]> {
    const known = asked.get(key)
    if (known !== undefined) return known as Promise<Row[]>
    const asking = ask()
    asked.set(key, asking)
    try {
      return await asking
    } finally {
      asked.delete(key)
    }
  }

  async function askWhole<Row>(key: string, ask: () => Promise<Row[]>): Promise<Row[]> {
    const known = answers.get(key) as Known<Row> | undefined
    if (known !== undefined) return known.rows
    return askOnce(key, async () => {
      const rows = await ask()
      answers.set(key, { ...nothing, rows })
      return rows
    })
  }

  /** The texts that were asked for last in a question, these ones first. */
  function noteTexts(question: string, texts: readonly string[]): readonly string[] {
    const before = (answers.get(question)?.rows ?? []) as readonly string[]
    const all = [...new Set([...texts, ...before])].slice(0, Math.max(texts.length, keptTextsMax))
    answers.set(question, { ...nothing, rows: all })
    return all
  }

  /**
   * Asks for those of a list's texts of which nothing is known, and of the others for what has come since: for generations
   * that weren't listed then. Texts that were asked for before are kept up with these: they are asked for in the same
   * statement, and where they come back it takes none.
   */
  async function askForNew<Row>(
    sql: string,
    params: Record<string, unknown>,
    { each, growing, decode = (row) => row as Row, ...options }: QueryOptions<Row>,
  ): Promise<Row[]> {
    const lists = [each?.parameter, growing?.parameter]
    const question = keyOfQuestion(
      sql,
      Object.fromEntries(Object.entries(params).filter(([name]) => !lists.includes(name))),
    )
    const texts = each === undefined ? [''] : (params[each.parameter] as readonly string[])
    const textOf = (row: Readonly<Record<string, unknown>>) => (each === undefined ? '' : String(row[each.column]))
    const generations = growing?.generations ?? []
    const contents = contentsOf(generations)
    const kept = each && growing ? noteTexts(question, texts) : texts
    const known = new Map(kept.map((text) => [text, answers.get(`${question} ${text}`) as Known<Row> | undefined]))

    const askFor = async (missing: Missing): Promise<void> => {
      const rows = await reader.query<Record<string, unknown>>(
        sql,
        {
          ...params,
          ...(each && { [each.parameter]: missing.texts }),
          ...(growing && { [growing.parameter]: missing.generations.map(({ generation }) => generation) }),
        },
        options,
      )
      const added = new Map(missing.texts.map((text): [string, Row[]] => [text, []]))
      for (const row of rows) added.get(textOf(row))?.push(decode(row))
      for (const [text, rows] of added) {
        const before = missing.isAll ? [] : known.get(text)!.rows
        // With nothing new the same rows: what was made of them is known by them.
        const some = [before, rows].filter(({ length }) => length > 0)
        const all = { ...contents, rows: some.length === 2 ? growing!.merge(some.flat()) : (some[0] ?? []) }
        known.set(text, all)
        answers.set(`${question} ${text}`, all)
      }
    }
    await Promise.all(missingOf(known, generations, new Set(texts)).map(askFor))
    return texts.flatMap((text) => known.get(text)!.rows)
  }

  const query = async <Row>(
    sql: string,
    params: Record<string, unknown> = {},
    options: QueryOptions<Row> = {},
  ): Promise<Row[]> => {
    const { isLasting, each, growing } = options
    if (isLasting !== true) return reader.query<Row>(sql, params, options)
    const key = keyOfQuestion(sql, params)
    if (growing !== undefined) return askOnce(key, () => askForNew(sql, params, options))
    return askWhole(key, () =>
      each === undefined ? reader.query(sql, params, options) : askForNew(sql, params, options),
    )
  }
  return { ...reader, query }
}

function keyOfQuestion(sql: string, params: Record<string, unknown>): string {
  return createHash('sha256').update(sql).update(JSON.stringify(params)).digest('base64')
}

/** How much some generations hold together. */
interface Contents {
  readonly newest: number
  readonly parts: number
}

interface Known<Row> extends Contents {
  readonly rows: Row[]
}

const nothing: Contents = { newest: 0, parts: 0 }

function contentsOf(generations: readonly Content[]): Contents {
  const newest = generations.reduce((highest, one) => Math.max(highest, one.newest), 0)
  return { newest, parts: generations.reduce((sum, { parts }) => sum + parts, 0) }
}

interface Missing {
  readonly texts: string[]
  readonly generations: readonly Content[]
  /** All that there are, and so nothing of what is known is used. */
  readonly isAll: boolean
}

/** What is to be asked for: texts of which the same is known go together, and with those that are wanted others that are known. */
function missingOf(
  known: ReadonlyMap<string, Contents | undefined>,
  generations: readonly Content[],
  wanted: ReadonlySet<string>,
): Missing[] {
  const missing = new Map<string, Missing>()
  for (const [text, contents] of known) {
    const since = contents && generationsSince(contents, generations)
    if (since?.length === 0 || (since === undefined && !wanted.has(text))) continue
    const name = since === undefined ? 'all' : `${contents!.newest}`
    const together = missing.get(name) ?? { texts: [], generations: since ?? generations, isAll: since === undefined }
    together.texts.push(text)
    missing.set(name, together)
  }
  return [...missing.values()].filter(({ texts }) => texts.some((text) => wanted.has(text)))
}

/**
 * The generations that hold nothing of what is known; undefined where what is known isn't in the others, neither less nor more.
 * Of two moments the later one has, of what was newest at the earlier and before, at most what that had: what is added has higher
 * numbers, and what is merged keeps its own. So where both have as many parts of it, they have the same.
 */
function generationsSince(known: Contents, generations: readonly Content[]): Content[] | undefined {
  if (known.newest > contentsOf(generations).newest) return undefined
  const before = generations.filter(({ newest }) => newest <= known.newest)
  if (contentsOf(before).parts !== known.parts) return undefined
  return generations.filter(({ newest }) => newest > known.newest)
}

/** Texts of a question that are kept up with those that are asked for. */
const keptTextsMax = 64

const objectBytes = 64
const valueBytes = 16

/** Bytes of memory, roughly. What knows its `size` is asked for it. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return valueBytes + value.length
  if (typeof value !== 'object' || value === null) return valueBytes
  if ('size' in value && typeof value.size === 'number') return objectBytes + value.size
  return Object.values(value).reduce<number>((sum, part) => sum + sizeOf(part), objectBytes)
}
