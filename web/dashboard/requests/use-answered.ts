import { useRef } from 'preact/hooks'

/**
 * Says which question the shown answer is of, where the answer doesn't name it.
 * @param asked what is asked about now
 * @param isStale the answer to it is awaited
 * @returns what was asked about when the shown answer came
 */
export function useAnswered<Asked>(asked: Asked, isStale: boolean): Asked {
  const answered = useRef(asked)
  if (!isStale) answered.current = asked
  return answered.current
}
