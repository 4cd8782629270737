/** Back leads to where the page was scrolled: the browser looks for that place before the page's answer is there. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { keep, kept } from './history-entries.ts'

/** @param isThere whether what stood there has come */
export function useKeptTop(isThere: boolean): void {
  const top = useRef(kept().top)
  useLayoutEffect(() => {
    if (!isThere || top.current === undefined) return
    scrollTo(0, top.current)
    top.current = undefined
    keep({ top: undefined })
  }, [isThere])
}
