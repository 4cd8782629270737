/** The part of an identify or conversion that goes to Postgres and not to ClickHouse: the only place of an e-mail. */
export interface SidePayload {
  event_id: number
  workspace_id: number
  event_type: string
  event_name: string
  email: string | null
  anonymous_id: string
  full_name: string
  properties: Record<string, unknown>
  source: string
  medium: string
  campaign: string
  content: string
  occurred_at: number
  received_at: number
}
