/**
 * Answers ahead what open dashboards will ask of the aggregates: these change every few seconds, and what has come then is
 * read once anyway, so it is read as soon as it is there, before it is asked for. Only the raw rows are left to be read then.
 */
import type { Log } from '../runtime/log.ts'
import type { AggregateSnapshot } from '../schemas/aggregate-snapshot.ts'
import {
  warmAgainMs,
  warmCheckMs,
  warmedAgeMaxMs,
  warmedForMs,
  warmedQuestionsMax,
  warmWaitMaxMs,
} from '../schemas/limits.ts'
import type { SnapshotSource } from './snapshots.ts'

/** So many are read ahead at once: what they ask alike goes out as one statement. The rows of more would hold up who waits. */
const warmedAtOnce = 4

export interface Warmer {
  /** Works on what somebody waits for: nothing is begun to be read ahead beside it, for a moment. */
  first<Answer>(work: () => Promise<Answer>): Promise<Answer>
  /**
   * Notes that `question` is asked. Of one that is asked again within `warmedForMs`, and for as long after the last time,
   * `warm` is called when the aggregates have changed: of several questions for a few at a time, those that were asked
   * longest ago first. Where it fails, the question has to be asked twice again.
   */
  note(question: string, warm: (snapshot: AggregateSnapshot) => Promise<void>): void
  /**
   * The snapshot to answer `question` by: of a question that is read ahead the one that was read last, until the next has
   * been, so that its answer finds all there.
   */
  snapshot(question: string): Promise<AggregateSnapshot>
  stop(): void
}

interface Noted {
  askedAt: number
  isAskedAgain: boolean
  warm: (snapshot: AggregateSnapshot) => Promise<void>
  /** When it was asked or warmed last. */
  answeredAt: number
  /** Of the snapshot that it was warmed with. */
  revision: number
  /** By which it was answered or warmed last. */
  snapshot: AggregateSnapshot | undefined
}

/** @param now milliseconds, as a clock that never jumps back; given for tests */
export function makeWarmer(snapshots: SnapshotSource, log: Log, now: () => number = () => performance.now()): Warmer {
  /** In the order in which they were asked last. */
  const noted = new Map<string, Noted>()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  /** How many answers are being worked on, and who goes on when none is. */
  let awaited = 0
  let goOn: (() => void) | undefined

  function forgetOld(): void {
    for (const [question, { askedAt }] of noted) {
      if (now() - askedAt < warmedForMs && noted.size <= warmedQuestionsMax) return
      noted.delete(question)
    }
  }

  function isDue({ isAskedAgain, answeredAt }: Noted): boolean {
    return isAskedAgain && now() - answeredAt >= warmAgainMs
  }

  /** Resolves when nobody waits for an answer, or soon all the same. */
  async function turn(): Promise<void> {
    if (awaited === 0) return
    await new Promise<void>((resolve) => {
      const patience = setTimeout(resolve, warmWaitMaxMs)
      goOn = () => {
        clearTimeout(patience)
        resolve()
      }
    })
  }

  async function warmAll(): Promise<void> {
    if (![...noted.values()].some(isDue)) return
    const snapshot = await snapshots()
    const isWanted = (one: Noted | undefined): one is Noted =>
      !isStopped && one !== undefined && isDue(one) && one.revision !== snapshot.revision
    const questions = [...noted.keys()]
    const wanted = () => questions.filter((question) => isWanted(noted.get(question))).slice(0, warmedAtOnce)
    while (wanted().length > 0) {
      await turn()
      await Promise.all(wanted().map((question) => warmOne(question, noted.get(question)!, snapshot)))
    }
  }

  async function warmOne(question: string, one: Noted, snapshot: AggregateSnapshot): Promise<void> {
    await one.warm(snapshot).catch((error) => {
      // Whoever asks gets the error.
      log.debug({ err: error }, 'an overview could not be read ahead')
      noted.delete(question)
    })
    one.revision = snapshot.revision
    one.snapshot = snapshot
    one.answeredAt = now()
  }

  function checkSoon(): void {
    if (timer !== undefined || isStopped) return
    timer = setTimeout(async () => {
      try {
        forgetOld()
        await warmAll()
      } catch (error) {
        log.debug({ err: error }, 'no overview could be read ahead')
      }
      timer = undefined
      if (noted.size > 0) checkSoon()
    }, warmCheckMs)
    timer.unref()
  }

  return {
    first: async (work) => {
      awaited++
      try {
        return await work()
      } finally {
        awaited--
        if (awaited === 0) goOn?.()
      }
    },
    note: (question, warm) => {
      const askedAt = now()
      const before = noted.get(question)
      const isAskedAgain = before !== undefined && askedAt - before.askedAt < warmedForMs
      const one = before ?? { revision: -1, snapshot: undefined }
      noted.delete(question)
      // The same one: it may be being warmed.
      noted.set(question, Object.assign(one, { askedAt, isAskedAgain, warm, answeredAt: askedAt }))
      forgetOld()
      checkSoon()
    },
    snapshot: async (question) => {
      const newest = await snapshots()
      const one = noted.get(question)
      if (one === undefined) return newest
      const last = one.snapshot
      const isUsable =
        last && last.revision <= newest.revision && newest.committedAt - last.committedAt < warmedAgeMaxMs
      if (one.isAskedAgain && isUsable) return last
      one.snapshot = newest
      return newest
    },
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
