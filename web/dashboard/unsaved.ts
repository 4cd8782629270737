/** Asks before a page is left whose text isn't saved: by a link, a key, Close, or the end of the tab. */
import { useEffect } from 'preact/hooks'

let isUnsaved = false

/** @param is whether the part of the page that calls it holds what isn't saved */
export function useUnsaved(is: boolean): void {
  useEffect(() => {
    if (!is) return
    isUnsaved = true
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => {
      isUnsaved = false
      removeEventListener('beforeunload', ask)
    }
  }, [is])
}

export function mayLeave(): boolean {
  return !isUnsaved || confirm("Leave without saving? What you changed isn't saved.")
}
