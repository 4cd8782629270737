/** Which part of a list is wanted: lists are newest first. */
import { z } from 'zod'
import { idInQuery, laxIntOr } from '../lax.ts'
import { listLimitDefault, listLimitMax } from '../limits/api-limits.ts'

/** Pages back through a list whose rows are each a `type`. */
export function beforeId(type: string) {
  return idInQuery(type, 'Only rows older than this one.')
}

/** The query of a list whose rows are each a `type`. */
export function pageQuery(type: string) {
  return z.object({
    limit: laxIntOr(listLimitDefault, { ge: 1, le: listLimitMax, description: 'Rows, at most.' }),
    before_id: beforeId(type),
  })
}
