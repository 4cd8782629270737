/** The answer of the health route. */
import type { StreamName } from '../../schemas/event/row.ts'
import type { Shipper } from '../ship/shipper.ts'
import type { Health } from './other-routes.ts'

/** A write that failed is followed by one to another file at once: that alone is no reason to send events elsewhere. */
const outageToldMs = 1_000

/**
 * @param refusal why nothing can be taken now, or null
 * @param outageMs for how long events could not be written
 */
export function describeHealth(
  refusal: string | null,
  outageMs: number,
  shippers: Readonly<Record<StreamName, Shipper>>,
): Health {
  const reason = refusal ?? (outageMs > outageToldMs ? 'The event log can’t be written' : null)
  const backlog = Object.entries(shippers).map(([stream, shipper]) => {
    const { bytes, segments, ageMs } = shipper.backlog()
    return [stream, { bytes, segments, oldest_seconds: ageMs / 1000 }]
  })
  return {
    isWell: reason === null,
    body: {
      status: reason === null ? 'ok' : 'refusing',
      reason,
      backlog: Object.fromEntries(backlog),
    },
  }
}
