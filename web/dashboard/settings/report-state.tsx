/** How far the reports to a recipient are. */
import type { ReportRecipientResource } from '../../../schemas/resources/report-recipient.ts'
import { time } from '../parts/format.ts'

interface StateProps {
  readonly of: Pick<(typeof ReportRecipientResource)['_output'], 'sent_at' | 'has_failed' | 'asked'>
  readonly timezone: string
}

export function ReportState({ of: { sent_at, has_failed, asked }, timezone }: StateProps) {
  if (asked?.state === 'waiting') return <span class="label">is being sent …</span>
  // A report that went out since then says that sending works again.
  if (asked?.state === 'failed' && (sent_at === null || sent_at < asked.at)) {
    return (
      <span class="bad">
        couldn’t be sent at {time(asked.at, timezone)}: {asked.failure}
      </span>
    )
  }
  if (has_failed) return <span class="bad">the last one couldn’t be sent</span>
  if (sent_at === null) return <span class="label">none sent yet</span>
  return <span class="label">sent {time(sent_at, timezone)}</span>
}
