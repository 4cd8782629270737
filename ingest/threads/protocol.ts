/** Messages between a worker and the node's main thread. */
import type { Figures } from '../../runtime/metrics.ts'
import type { StreamName } from '../../schemas/event/row.ts'
import type { Health } from '../http/other-routes.ts'
import type { PasswordTries } from '../http/password-tries.ts'
import type { Recovered } from '../log/recover.ts'
import type { Segment } from '../log/segment.ts'
import type { NumberRange } from '../segment-leases.ts'

export interface WorkerData {
  /** From 1: the number of its folder. */
  readonly worker: number
  readonly workers: number
  /** One Int32 for each of `streamNames`: whether an insert of the stream runs. */
  readonly loading: SharedArrayBuffer
}

export const streamNames: readonly StreamName[] = ['events', 'bot_visits', 'link_clicks', 'replay_chunks']

/** A stream of a worker's log, recovered and open for writing. */
export interface OpenedLog {
  readonly recovered: Recovered
  readonly newestFile: number
}

export type MainFunctions = {
  /** The worker's logs are open, and its other functions can be called. */
  opened(logs: Readonly<Record<StreamName, OpenedLog>>): void
  /** Segment numbers that no other thread gets, durably reserved. */
  reserve(): Promise<NumberRange>
  /** The worker has taken this number for a segment of the stream: told before any row can get it. */
  took(stream: StreamName, number: number): void
  /** The segment's first row was appended at `at`, by the clock of all threads: told before anybody is answered. */
  gotRow(stream: StreamName, number: number, at: number): void
  sealed(stream: StreamName, segment: Segment): void
  unused(stream: StreamName, number: number): void
  /** The worker has left a file of its folder: told after all of its segments. */
  left(stream: StreamName, folder: number, file: number): void
  /** Tries of links' passwords are counted for all workers together. */
  takePasswordTry: PasswordTries['take']
  giveBackPasswordTry: PasswordTries['giveBack']
  health(): Promise<Health>
  metrics(): Promise<string>
}

export type WorkerFunctions = {
  listen(host: string, port: number): Promise<void>
  /** Answers after all messages that the worker sent before the question. */
  barrier(): void
  /** The insert that `loading` told of has ended. */
  onLoaderIdle(stream: StreamName): void
  /** Why nothing can be taken now, or null. */
  refuse(reason: string | null): void
  /** The rows of a log file are all stored. */
  release(stream: StreamName, file: number): Promise<void>
  /** For how long events could not be written; 0 where they can. */
  outageMs(): number
  figures(): Promise<Figures>
  closeServer(): Promise<void>
  closeLog(): Promise<void>
  closeTables(): Promise<void>
}
