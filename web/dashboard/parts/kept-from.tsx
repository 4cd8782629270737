import type { Retention } from '../../../schemas/resources/retention.ts'
import { time } from './format.ts'

/** Says so where a range of the overview, or of retention, begins before what is kept. */
export function KeptFrom({ range: { start, timezone }, readable_from }: Pick<Retention, 'range' | 'readable_from'>) {
  if (start >= readable_from) return null
  return (
    <p class="note">
      No figures are kept from before {time(readable_from, timezone)}: the plan, or a shorter retention of the
      workspace, says so.
    </p>
  )
}
