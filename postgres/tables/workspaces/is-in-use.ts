/**
 * SQL condition: the workspace `w` isn't suspended, and its owner has a plan. Nothing is looked up, published or sent by
 * itself for others: it waits.
 * @param owner the alias of its row of `owners`
 */
export function isInUse(owner = 'o'): string {
  return `w.suspended_at IS NULL AND ${owner}.plan_key IS NOT NULL`
}
