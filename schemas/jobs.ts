/** The jobs of the pipeline: their queue, their names and what each is given. */

/** The one queue; its keys in Redis begin with `bull:pipeline:`. */
export const pipelineQueue = 'pipeline'

/** What each job is given. A job is idempotent and finds its work in the stores: what it is given only narrows it. */
export interface JobInputs {
  /** Deletes what is left of workspaces that somebody had deleted. */
  'delete-workspaces': Record<string, never>
  /** Deletes what is past its retention. */
  'expire-data': Record<string, never>
  /** Deletes old records of deliveries to webhooks, and the events that they told of. */
  'expire-deliveries': Record<string, never>
  /** Deletes the records of Idempotency-Keys whose time is over. */
  'expire-idempotency': Record<string, never>
  /** Deletes the salts of visitors without an id once they are two days old. */
  'expire-salts': Record<string, never>
}
export type JobName = keyof JobInputs
