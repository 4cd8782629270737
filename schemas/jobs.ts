/** The jobs of the pipeline: their queue and their names. A job gets no input: it finds its work in the stores. */

/** The one queue; its keys in Redis begin with `bull:pipeline:`. */
export const pipelineQueue = 'pipeline'

export type JobName =
  /** Deletes the remaining data of deleted workspaces. */
  | 'delete-workspaces'
  /** Deletes connections of apps that have ended, and registrations and sign-ins at platforms whose time is over. */
  | 'expire-apps'
  /** Deletes data past its retention. */
  | 'expire-data'
  /** Deletes old records of webhook deliveries, and their events. */
  | 'expire-deliveries'
  /** Deletes expired records of `Idempotency-Key`s. */
  | 'expire-idempotency'
  /** Deletes salts of visitors without an id two days after their day began. */
  | 'expire-salts'
