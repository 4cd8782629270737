/** Which part of a list is wanted: lists are newest first. */
import { z } from 'zod'
import { listLimitDefault, listLimitMax } from '../api-limits.ts'
import { laxInt, laxIntOr } from '../lax.ts'

const beforeId = laxInt({
  ge: 1,
  le: Number.MAX_SAFE_INTEGER,
  description: 'Only what is older than the row of this id: pages back through the list.',
})

/** Members of a query: `limit` and `before_id`. */
export const page = {
  limit: laxIntOr(listLimitDefault, { ge: 1, le: listLimitMax, description: 'Rows, at most.' }),
  before_id: beforeId,
}

export const PageQuery = z.object(page)
