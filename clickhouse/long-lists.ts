/**
 * A list that is longer than a server takes as one parameter is sent in portions, which the statement puts together. The limit
 * is of a field of a form (`http_max_field_value_size`), where no statement can raise it. Held by
 * test/integration/embedded-clickhouse.test.ts: the embedded server has the same limit.
 */
import { clickhouseFieldBytesMax } from '../schemas/limits/store-limits.ts'
import type { BoundSql } from './bound-sql.ts'

/** @returns the statement with shorter parameters; itself where none is too long */
export function divideLongLists({ sql, params }: BoundSql): BoundSql {
  let text = sql
  const shorter: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(params)) {
    const portions = Array.isArray(value) ? portionsOf(value) : []
    if (portions.length < 2) {
      shorter[name] = value
      continue
    }
    const names = portions.map((_, at) => `${name}_portion_${at}`)
    names.forEach((each, at) => {
      shorter[each] = portions[at]
    })
    text = text.replace(new RegExp(`\\{${name}:([^}]+)\\}`, 'g'), (_, type) => {
      const lists = names.map((each) => `{${each}:${type}}`)
      return `arrayConcat(${lists.join(',')})`
    })
  }
  return { sql: text, params: shorter }
}

/** The brackets of a list. */
const emptyBytes = 2

function portionsOf(list: readonly unknown[]): unknown[][] {
  const portions: unknown[][] = [[]]
  let bytes = emptyBytes
  for (const element of list) {
    const more = bytesBoundOf(element)
    if (bytes + more > clickhouseFieldBytesMax && bytes > emptyBytes) {
      portions.push([])
      bytes = emptyBytes
    }
    portions.at(-1)!.push(element)
    bytes += more
  }
  return portions
}

/** At least the bytes of an element with its comma and, in a text, quotes: each character may be escaped. */
function bytesBoundOf(element: unknown): number {
  if (Array.isArray(element)) return element.reduce((sum: number, each) => sum + bytesBoundOf(each), 3)
  return typeof element === 'string' ? 2 * Buffer.byteLength(element) + 3 : String(element).length + 1
}
