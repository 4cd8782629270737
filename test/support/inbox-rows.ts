/** Rows of the inbox, as ingest puts them there. */
import type { InboxRow } from '../../postgres/tables/people/inbox.ts'

type Named = Pick<InboxRow, 'event_id' | 'workspace_id' | 'occurred_at' | 'received_at'>

/** An identify without an e-mail, where nothing else is said. */
export function makeInboxRow(row: Named & Partial<InboxRow>): InboxRow {
  return {
    event_type: 'identify',
    event_name: 'identify',
    email: null,
    anonymous_id: '',
    full_name: '',
    properties: {},
    source: '',
    medium: '',
    campaign: '',
    content: '',
    ...row,
  }
}
