/** Whether a part of the page is still there when an answer comes. */
import { useLayoutEffect, useRef } from 'preact/hooks'

/** True until what it is in, such as a dialog, is closed. */
export function useIsOpen(): { current: boolean } {
  const isOpen = useRef(true)
  useLayoutEffect(
    () => () => {
      isOpen.current = false
    },
    [],
  )
  return isOpen
}
