/** Deadlines of calls to the stores. */
import { hour, KiB, MiB, second } from './units.ts'

/** Deadlines of outside calls. */
export const postgresDeadlineMs = 5 * second
/** A person at a command line rather waits than begins again. */
export const commandPostgresDeadlineMs = 20 * second
export const redisDeadlineMs = 2 * second
export const clickhouseQueryDeadlineMs = 15 * second
/** Within it a ClickHouse that works says so. Then a command asks it what may take minutes. */
export const clickhouseHelloDeadlineMs = 10 * second
/** How often a server is asked whether it still answers, while a statement of minutes is waited for: it has 10 s each time. */
export const clickhousePulseEveryMs = 5 * second
/**
 * Shares of `ANSWER_DEADLINE_MS`. All statements of an answer in ClickHouse have one together, the longer one while few
 * others do. Each statement in Postgres has one, and so has getting a connection.
 */
export const clickhouseShareOfAnswer = 0.7
export const longClickhouseShareOfAnswer = 3.5
/** Answers of a process of the API that have the longer share at a time. */
export const longAnswersMax = 4
/** As `clickhousePulseEveryMs`, in the API. A server that hangs is known after six times as long. */
export const clickhousePulseShareOfAnswer = 0.14
export const postgresShareOfAnswer = 0.5
export const clickhouseInsertDeadlineMs = 120 * second
export const clickhouseQueryMemoryMax = 4 * 1024 * MiB
/** The longest statement or parameter in a form: by ClickHouse’s own default, which the embedded server has, too. */
export const clickhouseFieldBytesMax = 128 * KiB

/** The clocks of two processes differ by less, unless one of them is wrong. */
export const clocksApartMaxMs = 1 * hour

/** How long the API's health waits for a store. */
export const healthDeadlineMs = 2 * second

/** `Retry-After` in seconds for a 503. */
export const retryAfterSeconds = 5

/** How many jobs that failed for good a command lists: a fault of all webhooks sets aside hundreds of thousands. */
export const setAsideJobsListed = 100
export const setAsideJobsListedMax = 10_000
/** How many of them one transaction begins again, within its deadline: the next ones follow in seconds. */
export const setAsideJobsRetriedEach = 5_000
