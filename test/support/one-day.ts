/** Tests whose steps have to lie on one day, as that of a visitor's salt or of a quota. */
import { sleep } from '../../runtime/retry.ts'
import { dayMs, wallTimeAt } from '../../schemas/time/time-zone.ts'

/** Several times what such a test takes. */
const roomMs = 120_000

/** Where the day ends soon, waits until the next one has begun. */
export async function onOneDay(timeZone = 'UTC'): Promise<void> {
  const leftMs = dayMs - (wallTimeAt(Date.now(), timeZone) % dayMs)
  if (leftMs < roomMs) await sleep(leftMs + 100)
}
