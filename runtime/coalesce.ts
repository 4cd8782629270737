/** Gives equal questions that are asked at once, or almost, one answer: the work behind it is done once. */

export interface Coalescer<Answer> {
  /**
   * The answer to `question` that is being worked on, or was begun at most `reuseMs` ago; else that of `work`.
   * A failure is given to those who wait for it, and to nobody later.
   */
  ask(question: string, work: () => Promise<Answer>): Promise<Answer>
}

/** @param now milliseconds, as a clock that never jumps back; given for tests */
export function makeCoalescer<Answer>(reuseMs: number, now: () => number = () => performance.now()): Coalescer<Answer> {
  const asked = new Map<string, { answer: Promise<Answer>; begunAt: number; isOpen: boolean }>()

  /** Those that were asked first stand first: what is past its time is dropped from there on. */
  function forgetOld(): void {
    for (const [question, { begunAt, isOpen }] of asked) {
      if (now() - begunAt < reuseMs) return
      if (!isOpen) asked.delete(question)
    }
  }

  return {
    ask: (question, work) => {
      forgetOld()
      const known = asked.get(question)
      if (known !== undefined && now() - known.begunAt < reuseMs) return known.answer
      const entry = { answer: work(), begunAt: now(), isOpen: true }
      asked.delete(question)
      asked.set(question, entry)
      entry.answer.then(
        () => {
          entry.isOpen = false
        },
        () => {
          if (asked.get(question) === entry) asked.delete(question)
        },
      )
      return entry.answer
    },
  }
}
