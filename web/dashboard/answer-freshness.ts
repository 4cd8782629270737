/** Answers on the page that are older than a write: a dialog that changes a list stays until the list has the change. */

interface Look {
  /** That of its question, under `/api/v1`. */
  path: string
  /** The answer is older than the last write that it would show. */
  isOld: boolean
}

const looks = new Set<Look>()
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
  for (const look of looks) look.isOld ||= named.test(look.path)
}

/** Follows one question, for as long as its answer is looked at. */
export function makeLook() {
  const look: Look = { path: '', isOld: false }
  // One that begins anew has ended first.
  const tell = () => queueMicrotask(() => changes.dispatchEvent(new Event('renewed')))
  return {
    begin(path: string) {
      look.path = path
      looks.add(look)
    },
    /** @param knows how many writes were answered when it was asked */
    renew(knows: number) {
      if (knows === answered) look.isOld = false
      tell()
    },
    end() {
      looks.delete(look)
      tell()
    },
  }
}

/** Resolves once nothing is shown that is older than the last write. */
export function untilShown(): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      changes.removeEventListener('renewed', check)
      resolve()
    }
    const check = () => {
      if (![...looks].some(({ isOld }) => isOld)) end()
    }
    const timer = setTimeout(end, shownWithinMs)
    changes.addEventListener('renewed', check)
    check()
  })
}
