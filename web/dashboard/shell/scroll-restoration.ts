/** Scrolls a page back to where it was left: the browser would do so before the page's answer is there. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { entryState, updateEntryState } from './history-entries.ts'

/** @param isThere whether what stood there has come */
export function useScrollRestoration(isThere: boolean): void {
  const top = useRef(entryState().top)
  useLayoutEffect(() => {
    if (!isThere || top.current === undefined) return
    scrollTo(0, top.current)
    top.current = undefined
    updateEntryState({ top: undefined })
  }, [isThere])
}
