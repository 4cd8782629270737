/** Coalesces identical requests that arrive at almost the same time: the work runs once, and all share its answer. */

export interface Coalescer<Answer> {
  /**
   * Answers `question` by the work on it that runs or began recently, else by `work`. Recently means within `leastMs`,
   * or within twice the time that the work took, if that is longer. So a question that is asked without a pause keeps
   * at most half of a processor busy. No answer is begun more than `mostMs` before it is asked for. A failure is given
   * to those who wait for it, and to nobody later.
   */
  ask(question: string, work: () => Promise<Answer>): Promise<Answer>
}

export interface Reuse {
  readonly leastMs: number
  readonly mostMs: number
}

/** @param now milliseconds, as a clock that never jumps back; given for tests */
export function makeCoalescer<Answer>(
  { leastMs, mostMs }: Reuse,
  now: () => number = () => performance.now(),
): Coalescer<Answer> {
  const asked = new Map<string, { answer: Promise<Answer>; begunAt: number; reuseMs: number }>()

  /** The oldest questions stand first: expired ones are dropped from there on. */
  function forgetOld(): void {
    for (const [question, { begunAt }] of asked) {
      if (now() - begunAt < mostMs) return
      asked.delete(question)
    }
  }

  return {
    ask: (question, work) => {
      forgetOld()
      const known = asked.get(question)
      if (known !== undefined && now() - known.begunAt < known.reuseMs) return known.answer
      const entry = { answer: work(), begunAt: now(), reuseMs: mostMs }
      asked.delete(question)
      asked.set(question, entry)
      entry.answer.then(
        () => {
          entry.reuseMs = Math.min(mostMs, Math.max(leastMs, 2 * (now() - entry.begunAt)))
        },
        () => {
          if (asked.get(question) === entry) asked.delete(question)
        },
      )
      return entry.answer
    },
  }
}
