/**
 * The closed table of expected refusals: code, status and public text. A refusing place throws `problem(code)`, and one
 * mapper turns it into each transport's answer. Only the code and the public text leave the process.
 */
import { queueDaysMax } from '../limits/publish-limits.ts'
import { retryAfterSeconds } from '../limits/store-limits.ts'
import { boundedErrors, type ValidationError } from './validation-errors.ts'

interface ProblemEntry {
  readonly status: number
  readonly detail: string
  /** HTTP headers of the refusal, such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>
}

export const problems = {
  body_unparsable: { status: 400, detail: 'There was an error parsing the body' },
  boundary_missing: { status: 400, detail: 'Missing boundary in multipart.' },
  multipart_invalid: { status: 400, detail: 'Invalid multipart data.' },
  not_authenticated: { status: 401, detail: 'Not authenticated', headers: { 'WWW-Authenticate': 'Bearer' } },
  signature_invalid: { status: 401, detail: 'Invalid signature' },
  plan_missing: { status: 402, detail: 'The owner has not selected a plan' },
  workspace_access_denied: { status: 403, detail: 'Workspace access denied' },
  scope_missing: { status: 403, detail: 'API key lacks the required scope: {}' },
  role_insufficient: { status: 403, detail: 'Your role in the workspace does not allow this' },
  second_factor_missing: {
    status: 403,
    detail: 'The workspace requires a second factor: set yours up at /dashboard/second-factor',
  },
  origin_untrusted: { status: 403, detail: 'Origin not allowed' },
  not_found: { status: 404, detail: 'Not Found' },
  post_not_found: { status: 404, detail: 'Post not found' },
  media_not_found: { status: 404, detail: 'Media asset not found' },
  link_not_found: { status: 404, detail: 'Link not found' },
  replay_not_found: { status: 404, detail: 'Replay not found' },
  person_not_found: { status: 404, detail: 'Person not found' },
  revenue_connection_not_found: { status: 404, detail: 'Revenue connection not found' },
  social_account_not_found: { status: 404, detail: 'Social account not found' },
  shared_link_not_found: { status: 404, detail: 'Shared link not found' },
  api_key_not_found: { status: 404, detail: 'API key not found' },
  connected_app_not_found: { status: 404, detail: 'Connected app not found' },
  report_recipient_not_found: { status: 404, detail: 'Recipient of reports not found' },
  chat_channel_not_found: { status: 404, detail: 'Chat channel not found' },
  member_not_found: { status: 404, detail: 'Member not found' },
  invitation_not_found: { status: 404, detail: 'Invitation not found' },
  feed_not_found: { status: 404, detail: 'Feed not found' },
  domain_not_found: { status: 404, detail: 'Domain not found' },
  goal_not_found: { status: 404, detail: 'Goal not found' },
  note_not_found: { status: 404, detail: 'Note not found' },
  segment_not_found: { status: 404, detail: 'Segment not found' },
  saved_funnel_not_found: { status: 404, detail: 'Funnel not found' },
  snippet_not_found: { status: 404, detail: 'Snippet not found' },
  webhook_not_found: { status: 404, detail: 'Webhook endpoint not found' },
  delivery_not_found: { status: 404, detail: 'Webhook delivery not found' },
  method_not_allowed: { status: 405, detail: 'Method Not Allowed' },
  body_late: { status: 408, detail: 'The request body did not arrive in time' },
  workspace_moved: {
    status: 409,
    detail: 'The workspace that this page shows is closed to you by now: load the page anew',
  },
  post_not_editable: { status: 409, detail: 'Only draft and scheduled posts can be edited' },
  post_not_schedulable: { status: 409, detail: 'Only draft and failed posts can be scheduled' },
  post_changed: { status: 409, detail: 'The post was changed{} since it was read: read it again' },
  post_not_reschedulable: { status: 409, detail: 'Only scheduled and failed posts can be rescheduled' },
  post_not_unschedulable: { status: 409, detail: 'Only scheduled posts can be unscheduled' },
  post_not_deletable: {
    status: 409,
    detail: 'Only posts of which nothing is published or being published can be deleted',
  },
  post_not_submittable: { status: 409, detail: 'Only drafts can be submitted for approval' },
  post_not_returnable: { status: 409, detail: 'Only posts that wait for approval can be sent back' },
  post_not_archivable: { status: 409, detail: 'Only draft, scheduled and failed posts can be archived' },
  post_target_published: {
    status: 409,
    detail: 'An account that the post is already published to can not be taken out',
  },
  post_part_published: { status: 409, detail: 'A part of the thread that is published can not be changed' },
  posting_times_missing: { status: 409, detail: 'The workspace has no posting times' },
  posting_times_taken: { status: 409, detail: `No posting time of the next ${queueDaysMax} days is free` },
  media_full: { status: 409, detail: 'The plan allows {} bytes of media: delete some first' },
  media_in_use: {
    status: 409,
    detail: 'A post that is to be published, or the company profile, shows this media asset',
  },
  feeds_full: { status: 409, detail: 'The workspace has as many feeds as it may have' },
  feed_known: { status: 409, detail: 'The workspace has this feed' },
  feed_not_active: { status: 409, detail: 'The feed is paused or turned off' },
  domains_full: { status: 409, detail: 'The workspace has as many short domains as it may have' },
  domain_known: { status: 409, detail: 'The workspace has this short domain' },
  domain_taken: { status: 409, detail: 'Another workspace has proven that this host is its own' },
  domain_in_use: { status: 409, detail: 'Links stand under this domain: archive them first' },
  goals_full: { status: 409, detail: 'The workspace has as many goals as it may have' },
  goal_known: { status: 409, detail: 'The workspace has a goal with this name, or one for this page or event' },
  notes_full: { status: 409, detail: 'The workspace has as many notes as it may have' },
  segments_full: { status: 409, detail: 'The workspace has as many segments (saved views) as it may have' },
  segment_known: { status: 409, detail: 'The workspace has a segment (saved view) with this name' },
  saved_funnels_full: { status: 409, detail: 'The workspace has as many saved funnels as it may have' },
  saved_funnel_known: { status: 409, detail: 'The workspace has a saved funnel with this name' },
  snippets_full: { status: 409, detail: 'The workspace has as many snippets as it may have' },
  snippet_known: { status: 409, detail: 'The workspace has a snippet with this name' },
  api_keys_full: { status: 409, detail: 'The workspace has as many secret keys as it may have' },
  shared_links_full: { status: 409, detail: 'The workspace has as many shared links as it may have' },
  webhooks_full: { status: 409, detail: 'The workspace has as many webhook endpoints as it may have' },
  report_recipients_full: { status: 409, detail: 'The workspace has as many recipients of reports as it may have' },
  report_recipient_known: { status: 409, detail: 'This address gets these reports already' },
  chat_channel_known: { status: 409, detail: 'This chat channel is added already' },
  chat_channel_disabled: { status: 409, detail: 'The chat channel is turned off' },
  report_asked_lately: { status: 409, detail: 'This report was asked for less than a minute ago' },
  reports_asked_often: { status: 409, detail: 'The workspace asked for 60 reports within the last hour' },
  mail_not_set_up: { status: 409, detail: 'Mail is not set up: the service has no SMTP_URL or no MAIL_FROM' },
  members_full: { status: 409, detail: 'The workspace has as many members and invitations as it may have' },
  workspaces_full: { status: 409, detail: 'The account has as many workspaces as it may have' },
  member_known: { status: 409, detail: 'Somebody with this address is a member already' },
  invitation_known: { status: 409, detail: 'This address is invited already: withdraw that invitation first' },
  member_is_owner: { status: 409, detail: 'The owner of the workspace stays its owner, and can not be removed' },
  own_factor_missing: { status: 409, detail: 'The owner of the workspace has no second factor yet' },
  delivery_endpoint_deleted: { status: 409, detail: 'The webhook endpoint is deleted' },
  delivery_event_gone: { status: 409, detail: 'The event is no longer kept' },
  demo_busy: { status: 409, detail: 'A demo workspace is being filled: try again in a moment' },
  idempotency_key_reused: { status: 409, detail: 'Idempotency-Key was used with a different request' },
  idempotency_in_progress: {
    status: 409,
    detail: 'A request with this Idempotency-Key is still in progress',
    headers: { 'Retry-After': '1' },
  },
  body_too_large: { status: 413, detail: 'Request body is too large' },
  image_too_large: { status: 413, detail: 'Images may have at most {} bytes' },
  video_too_large: { status: 413, detail: 'Videos may have at most {} bytes' },
  media_type_unsupported: { status: 415, detail: 'Only JPG, PNG, MP4 and MOV files are accepted' },
  media_type_mismatch: { status: 415, detail: 'The name or the declared type is not that of the file, which is {}' },
  json_expected: { status: 415, detail: 'Content-Type must be application/json' },
  range_unsatisfiable: { status: 416, detail: 'Range Not Satisfiable' },
  rate_limited: { status: 429, detail: 'Rate limit exceeded' },
  account_tries_exceeded: {
    status: 429,
    detail: 'The workspace tried to connect accounts too often: try again in some minutes',
  },
  internal: { status: 500, detail: 'Internal Server Error' },
  uploads_full: {
    status: 503,
    detail: 'Too many files are being uploaded',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  },
  feed_previews_full: {
    status: 503,
    detail: 'Too many feeds are being previewed',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  },
  click_maps_full: {
    status: 503,
    detail: 'Service temporarily unavailable: too many click maps are being computed',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  },
  people_behind: {
    status: 503,
    detail: 'Too many events wait to be merged into people: try again in a moment',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  },
  workspace_busy: {
    status: 503,
    detail: 'Service temporarily unavailable: too many changes of this workspace are under way',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  },
  answer_late: {
    status: 503,
    detail: 'Service temporarily unavailable: the figures of this question take longer than the service waits for them',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  },
  store_unavailable: {
    status: 503,
    detail: 'Service temporarily unavailable: a store that this request needs does not answer',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  },
} as const satisfies Record<string, ProblemEntry>

export type ProblemCode = keyof typeof problems | 'validation_failed'

/** An expected refusal on its way to the caller. */
export class Problem extends Error {
  override name = 'Problem'
  readonly code: ProblemCode
  readonly status: number
  /** The public `detail`: a text, or for `validation_failed` a list. */
  readonly detail: string | readonly ValidationError[]
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ProblemCode,
    entry: { status: number; detail: string | readonly ValidationError[]; headers?: Readonly<Record<string, string>> },
    options?: ErrorOptions,
  ) {
    super(code, options)
    this.code = code
    this.status = entry.status
    this.detail = entry.detail
    this.headers = entry.headers ?? {}
  }
}

/** The refusal of that code; `subject` fills the `{}` of its text. */
export function problem(code: keyof typeof problems, subject = '', options?: ErrorOptions): Problem {
  const entry: ProblemEntry = problems[code]
  return new Problem(code, { ...entry, detail: entry.detail.replace('{}', () => subject) }, options)
}

/** A refusal with when to come again. */
export function rateProblem(code: 'account_tries_exceeded', waitMs: number): Problem {
  const headers = { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) }
  return new Problem(code, { ...problems[code], headers })
}

/** A 422 that carries these errors. */
export function invalid(errors: readonly ValidationError[]): Problem {
  return new Problem('validation_failed', { status: 422, detail: boundedErrors(errors) })
}
