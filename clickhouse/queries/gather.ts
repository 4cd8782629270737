/**
 * Asks what nobody waits for: one statement at a time, so that whoever waits has room. Those that differ only in whose answer
 * they want go out as one, which ClickHouse plans once: planning is most of what a short statement takes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ClickHouse } from '../client.ts'
import type { QueryOptions } from '../query-options.ts'

/** What is asked within so long goes out together. */
const gatherMs = 5

type Rows = Record<string, unknown>[]

interface Waiting {
  readonly sql: string
  readonly params: Record<string, unknown>
  readonly options: Pick<QueryOptions, 'ofWorkspace' | 'each' | 'settings'>
  readonly resolve: (rows: Rows) => void
  readonly reject: (error: unknown) => void
}

/**
 * Of a statement that says whose its rows are (`ofWorkspace`) the rows may hold texts of a list that only others asked for
 * (`each`). The others go out as they are.
 */
export function gatherStatements(reader: Pick<ClickHouse, 'query'>): Pick<ClickHouse, 'query'> {
  let waiting: Waiting[] = []
  let last: Promise<unknown> = Promise.resolve()

  /** Once those before have their answers, or have failed. */
  function inTurn<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    const answer = last.then(ask)
    last = answer.catch(() => {})
    return answer
  }

  /** All that wait by now: who asked the same before asks the same again once all of them have their answers. */
  async function askAll(): Promise<void> {
    const groups = new Map<string, Waiting[]>()
    for (const one of waiting) {
      const sameness = samenessOf(one)
      const group = groups.get(sameness)
      if (group === undefined) groups.set(sameness, [one])
      else group.push(one)
    }
    waiting = []
    for (const group of groups.values()) await askFor(group)
  }

  /** They get their rows one after the other: what each makes of them keeps the thread for a moment. */
  async function askFor(group: readonly Waiting[]): Promise<void> {
    const { sql, options } = group[0]!
    try {
      const rows = (await reader.query(sql, together(group), options)) as Rows
      const { parameter, column } = options.ofWorkspace!
      for (const { params, resolve } of group) {
        const [workspaceId] = params[parameter] as readonly number[]
        resolve(rows.filter((row) => row[column] === workspaceId))
        await nextTurn()
      }
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  const query = <Row>(sql: string, params: Record<string, unknown> = {}, options: QueryOptions<Row> = {}) => {
    if (options.ofWorkspace === undefined) return inTurn(() => reader.query<Row>(sql, params, options))
    return new Promise<Row[]>((resolve, reject) => {
      waiting.push({ sql, params, options, resolve: resolve as Waiting['resolve'], reject })
      if (waiting.length === 1) setTimeout(() => void inTurn(askAll), gatherMs)
    })
  }
  return { query }
}

/** All but whose answer is wanted, and of which texts. */
function samenessOf({ sql, params, options: { ofWorkspace, each, settings } }: Waiting): string {
  const others = Object.entries(params).filter(([name]) => name !== ofWorkspace!.parameter && name !== each?.parameter)
  return JSON.stringify([sql, others, settings])
}

function together(group: readonly Waiting[]): Record<string, unknown> {
  const [{ params, options }] = group as readonly [Waiting]
  const { ofWorkspace, each } = options
  const all = (parameter: string) => [
    ...new Set(group.flatMap(({ params }) => params[parameter] as readonly unknown[])),
  ]
  return {
    ...params,
    [ofWorkspace!.parameter]: all(ofWorkspace!.parameter),
    ...(each && { [each.parameter]: all(each.parameter) }),
  }
}
