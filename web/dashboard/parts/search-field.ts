/** A field for searches whose text stands in the address. */
import { useEffect, useRef } from 'preact/hooks'
import { replaceAddress } from '../shell/history-entries.ts'
import { addressOf } from '../shell/shared-page.ts'

const typingMs = 200

/**
 * The text is in the address a moment after it was typed; Back leads to the page before, not to fewer letters.
 * @param sought the address's text
 * @param pathWith the page's path and query with a text, which may be empty
 * @returns the field's ref, and what its input calls
 */
export function useSearchField(sought: string, pathWith: (text: string) => string) {
  const field = useRef<HTMLInputElement>(null)
  const told = useRef(sought)
  const typing = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(typing.current), [])
  useEffect(() => {
    // Another address than the typed one was opened.
    if (sought !== told.current) field.current!.value = sought
    told.current = sought
  }, [sought])
  const type = (text: string) => {
    clearTimeout(typing.current)
    typing.current = setTimeout(() => {
      told.current = text.trim()
      replaceAddress(addressOf(pathWith(told.current)))
      dispatchEvent(new PopStateEvent('popstate'))
    }, typingMs)
  }
  return [field, type] as const
}
