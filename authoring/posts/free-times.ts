/** The posting times that a post may still take. */
import type { Queryable } from '../../postgres/client.ts'
import { freeAmong, listPostingTimes } from '../../postgres/tables/posts/posting-times.ts'
import { queueDaysMax } from '../../schemas/limits/publish-limits.ts'
import { type WeeklyTime, weeklyMoments } from '../../schemas/time/weekly-times.ts'

export interface FreeTimes {
  readonly times: readonly WeeklyTime[]
  /** After `now`, ascending: as scheduling demands. */
  readonly free: readonly Date[]
}

export async function readFreeTimes(
  pg: Queryable,
  { id, timezone }: { readonly id: number; readonly timezone: string },
  now: number,
): Promise<FreeTimes> {
  const times = await listPostingTimes(pg, id)
  const moments = weeklyMoments(times, { timeZone: timezone, from: now, days: queueDaysMax })
  return { times, free: await freeAmong(pg, id, moments) }
}
