/** Answers on the page that are older than a write: a dialog that changes a list stays until the list has the change. */

interface TrackedAnswer {
  /** That of its question, under `/api/v1`. */
  path: string
  /** The answer is older than the last write that it would show. */
  isOld: boolean
}

const tracked = new Set<TrackedAnswer>()
const changes = new EventTarget()
let answered = 0

/** A list that takes longer is shown as it was before. */
const shownWithinMs = 5_000

export function answeredWrites(): number {
  return answered
}

/** @param path whose first part names what was written: so do questions about it */
export function countAnsweredWrite(path: string): void {
  answered += 1
  const named = new RegExp(`\\b${/[\w-]+/.exec(path)?.[0]}\\b`)
  for (const one of tracked) one.isOld ||= named.test(one.path)
}

/** Follows one question, for as long as its answer is looked at. */
export function trackAnswer() {
  const own: TrackedAnswer = { path: '', isOld: false }
  // One that begins anew has ended first.
  const tell = () => queueMicrotask(() => changes.dispatchEvent(new Event('renewed')))
  return {
    begin(path: string) {
      own.path = path
      tracked.add(own)
    },
    /** @param knows how many writes were answered when it was asked */
    renew(knows: number) {
      if (knows === answered) own.isOld = false
      tell()
    },
    end() {
      tracked.delete(own)
      tell()
    },
  }
}

/** Resolves once nothing is shown that is older than the last write. */
export function untilFresh(): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      changes.removeEventListener('renewed', check)
      resolve()
    }
    const check = () => {
      if (![...tracked].some(({ isOld }) => isOld)) end()
    }
    const timer = setTimeout(end, shownWithinMs)
    changes.addEventListener('renewed', check)
    check()
  })
}
