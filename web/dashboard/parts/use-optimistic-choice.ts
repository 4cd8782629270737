/** A choice in a row of a list. It is sent at once, and shown until an answer that was asked for after it is there. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Sent } from '../requests/query.ts'

interface ChosenOf<Value> {
  /** Each answer brings another one. */
  readonly row: object
  readonly known: Value
  put(next: Value): Promise<Sent<unknown>>
}

/** Several are sent in their order: by quick hands, and by browsers that choose each value on the way. */
export function useOptimisticChoice<Value>({ row, known, put }: ChosenOf<Value>) {
  const [chosen, choose] = useState<{ readonly value: Value }>()
  const newest = useRef<Promise<Sent<unknown>>>(undefined)
  useLayoutEffect(() => {
    if (newest.current === undefined) choose(undefined)
  }, [row])
  const change = async (next: Value) => {
    choose({ value: next })
    const before = newest.current
    const sending = (async () => {
      await before
      return put(next)
    })()
    newest.current = sending
    const sent = await sending
    if (newest.current === sending) {
      newest.current = undefined
      if ('refusal' in sent) choose(undefined)
    }
    return sent
  }
  return { shown: chosen ? chosen.value : known, change }
}
