/** The answer of the health route. */
import type { StreamName } from '../../schemas/event/row.ts'
import type { Shipper } from '../ship/shipper.ts'
import type { Health } from './pages.ts'

/** @param refusal why nothing can be taken now, or null */
export function describeHealth(refusal: string | null, shippers: Readonly<Record<StreamName, Shipper>>): Health {
  const backlog = Object.entries(shippers).map(([stream, shipper]) => {
    const { bytes, segments, ageMs } = shipper.backlog()
    return [stream, { bytes, segments, oldest_seconds: ageMs / 1000 }]
  })
  return {
    isWell: refusal === null,
    body: {
      status: refusal === null ? 'ok' : 'refusing',
      reason: refusal,
      backlog: Object.fromEntries(backlog),
    },
  }
}
