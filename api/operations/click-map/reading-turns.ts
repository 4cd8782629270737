/** One click map is computed at a time: recordings take memory and much of a core, which other answers need. */
import { problem } from '../../../schemas/errors/problems.ts'

/** @param waitMs who waits longer is refused */
export type ReadingTurns = <Result>(waitMs: number, read: () => Promise<Result>) => Promise<Result>

export function makeReadingTurns(): ReadingTurns {
  const waiting: (() => void)[] = []
  let isUnderWay = false

  const ownTurn = (waitMs: number) =>
    new Promise<void>((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(begin), 1)
        reject(problem('answer_late'))
      }, waitMs)
      waiting.push(begin)
    })

  return async (waitMs, read) => {
    if (isUnderWay) await ownTurn(waitMs)
    isUnderWay = true
    try {
      return await read()
    } finally {
      const next = waiting.shift()
      if (next === undefined) isUnderWay = false
      else next()
    }
  }
}
