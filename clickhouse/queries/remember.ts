/**
 * Keeps answers to questions that can't change: those over generations of aggregates, which are immutable and named in the
 * question. What was counted anew is in another generation, and so asked by another question: nothing is ever invalidated.
 * Where generations come all the time, what is known of those before is added to, and only the others are asked for.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { rememberedAnswerBytesMax, rememberedBytesMax } from '../../schemas/limits.ts'
import type { ClickHouse } from '../client.ts'
import type { Content, QueryOptions } from '../query-options.ts'
import { gatherStatements } from './gather.ts'

/**
 * The same reader; questions that are `isLasting` go out once, also when they are asked at the same time.
 * @param onForgotten called for each answer, or part of one, that others leave no room for
 */
export function rememberLasting<Reader extends Pick<ClickHouse, 'query'>>(
  reader: Reader,
  onForgotten: () => void = () => {},
): Reader {
  const asked = new Map<string, Promise<unknown[]>>()
  const ahead = gatherStatements(reader)
  const readerFor = ({ isAhead }: Pick<QueryOptions, 'isAhead'>) => (isAhead === true ? ahead : reader)
  const sizeCalculation = (known: unknown) => sizeOf(known)
  const dispose = (_known: unknown, _key: string, reason: LRUCache.DisposeReason) => {
    if (reason === 'evict') onForgotten()
  }
  const limits = { maxSize: rememberedBytesMax, maxEntrySize: rememberedAnswerBytesMax, sizeCalculation, dispose }
  /** Whole answers, and parts of them by a text of a list: what was known last, and a little before, the newest first. */
  const answers = new LRUCache<string, readonly Known<unknown>[]>(limits)

  /** One question at a time for one answer; but whoever waits for it doesn't for what is read ahead, which gives way to others. */
  async function askOnce<Row>(key: string, isAhead: boolean, ask: () => Promise<Row[]>): Promise<Row[]> {
    const name = isAhead ? `ahead ${key}` : key
    const known = asked.get(key) ?? asked.get(name)
    if (known !== undefined) return known as Promise<Row[]>
    const asking = ask()
    asked.set(name, asking)
    try {
      return await asking
    } finally {
      asked.delete(name)
    }
  }

  async function askWhole<Row>(key: string, isAhead: boolean, ask: () => Promise<Row[]>): Promise<Row[]> {
    const known = knownOf<Row>(key)
    if (known !== undefined) return known.rows
    return askOnce(key, isAhead, async () => {
      const rows = await ask()
      note(key, { ...nothing, rows })
      return rows
    })
  }

  /** The texts that were asked for last in a question, these ones first. */
  function noteTexts(question: string, texts: readonly string[]): readonly string[] {
    const before = knownOf<string>(question)?.rows ?? []
    const all = [...new Set([...texts, ...before])].slice(0, Math.max(texts.length, keptTextsMax))
    note(question, { ...nothing, rows: all })
    return all
  }

  /** The most that is known and is in the generations: a question by an older list than the last one finds what was known then. */
  function knownOf<Row>(key: string, generationsSince: GenerationsSince = sinceNone): Known<Row> | undefined {
    const all = answers.get(key) as readonly Known<Row>[] | undefined
    return all?.find((one) => generationsSince(one) !== undefined)
  }

  function note<Row>(key: string, known: Known<Row>): void {
    const others = (answers.get(key) ?? []).filter(({ newest }) => newest !== known.newest)
    const all = [known, ...others].sort((a, b) => b.newest - a.newest)
    answers.set(key, all.slice(0, knownAtOnceMax))
  }

  /**
   * Asks for those of a list's texts of which nothing is known, and of the others for what has come since: for generations
   * that weren't listed then. Texts that were asked for before are kept up with these: they are asked for in the same
   * statement, and where they come back it takes none.
   */
  async function askForNew<Row>(
    sql: string,
    params: Record<string, unknown>,
    { each, growing, ofWorkspace, decode = (row) => row as Row, ...options }: QueryOptions<Row>,
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
    const generationsSince = makeGenerationsSince(generations)
    const kept = each && growing ? noteTexts(question, texts) : texts
    const known = new Map(kept.map((text) => [text, knownOf<Row>(`${question} ${text}`, generationsSince)]))

    const askFor = async (missing: Missing): Promise<void> => {
      const rows = await readerFor(options).query<Record<string, unknown>>(
        sql,
        {
          ...params,
          ...(each && { [each.parameter]: missing.texts }),
          ...(growing && { [growing.parameter]: missing.generations.map(({ generation }) => generation) }),
        },
        // All of a workspace is much, and asked for by itself.
        { ...options, ...(each && { each }), ...(missing.isAll || ofWorkspace === undefined ? {} : { ofWorkspace }) },
      )
      const added = new Map(missing.texts.map((text): [string, Row[]] => [text, []]))
      for (const row of rows) added.get(textOf(row))?.push(decode(row))
      for (const [text, rows] of added) {
        const before = missing.isAll ? [] : known.get(text)!.rows
        // With nothing new the same rows: what was made of them is known by them.
        const some = [before, rows].filter(({ length }) => length > 0)
        const all = { ...contents, rows: some.length === 2 ? growing!.merge(some.flat()) : (some[0] ?? []) }
        known.set(text, all)
        note(`${question} ${text}`, all)
      }
    }
    await Promise.all(missingOf(known, { generations, generationsSince }, new Set(texts)).map(askFor))
    // Where it is one list, the same one.
    return texts.length === 1 ? known.get(texts[0]!)!.rows : texts.flatMap((text) => known.get(text)!.rows)
  }

  const query = async <Row>(
    sql: string,
    params: Record<string, unknown> = {},
    options: QueryOptions<Row> = {},
  ): Promise<Row[]> => {
    const { isLasting, isAhead = false, each, growing } = options
    if (isLasting !== true) return reader.query<Row>(sql, params, options)
    const key = keyOfQuestion(sql, params)
    if (growing !== undefined) return askOnce(key, isAhead, () => askForNew(sql, params, options))
    return askWhole(key, isAhead, () =>
      each === undefined ? readerFor(options).query(sql, params, options) : askForNew(sql, params, options),
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
  { generations, generationsSince }: { generations: readonly Content[]; generationsSince: GenerationsSince },
  wanted: ReadonlySet<string>,
): Missing[] {
  const missing = new Map<string, Missing>()
  for (const [text, contents] of known) {
    const since = contents && generationsSince(contents)
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
type GenerationsSince = (known: Contents) => readonly Content[] | undefined

/** Many texts are mostly known of the same moment: what is since then is worked out once. */
function makeGenerationsSince(generations: readonly Content[]): GenerationsSince {
  const { newest } = contentsOf(generations)
  const divided = new Map<number, { readonly parts: number; readonly since: readonly Content[] }>()
  return (known) => {
    if (known.newest > newest) return undefined
    let moment = divided.get(known.newest)
    if (moment === undefined) {
      const { parts } = contentsOf(generations.filter((one) => one.newest <= known.newest))
      moment = { parts, since: generations.filter((one) => one.newest > known.newest) }
      divided.set(known.newest, moment)
    }
    return moment.parts === known.parts ? moment.since : undefined
  }
}

const sinceNone = makeGenerationsSince([])

/** Of how many moments' lists an answer is known: the newest, and the one that questions go by while it is read ahead. */
const knownAtOnceMax = 2

/** Texts of a question that are kept up with those that are asked for. */
const keptTextsMax = 64

const objectBytes = 64
const valueBytes = 16
/** What a list of numbers takes besides these. */
const listBytes = 256

/** What knows what takes its memory, which others may share: bytes of each holder. */
interface Holding {
  readonly memory: readonly (readonly [holder: object, bytes: number])[]
}

/**
 * Bytes of memory, roughly; what is found twice takes it once, as what is known of one moment has most of what was of another.
 * @param counted what is counted already
 */
function sizeOf(value: unknown, counted: Set<object> = new Set()): number {
  if (typeof value === 'string') return valueBytes + value.length
  if (typeof value !== 'object' || value === null) return valueBytes
  if (counted.has(value)) return valueBytes
  counted.add(value)
  // With what portions of an hour's rows come to, which is kept as long as they are (overview/held-rows.ts).
  if (ArrayBuffer.isView(value)) return listBytes + 2 * value.byteLength
  const sum = (parts: readonly number[]) => parts.reduce((all, bytes) => all + bytes, objectBytes)
  if (!isHolding(value)) return sum(Object.values(value).map((part) => sizeOf(part, counted)))
  const held = value.memory.filter(([holder]) => !counted.has(holder))
  for (const [holder] of held) counted.add(holder)
  return sum(held.map(([, bytes]) => bytes))
}

function isHolding(value: object): value is Holding {
  return 'memory' in value && Array.isArray(value.memory)
}
