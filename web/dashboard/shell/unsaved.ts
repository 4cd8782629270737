/** Asks before a page or a dialog is left whose text isn't saved: by a link, a key, Back, Close, or the end of the tab. */
import { createContext } from 'preact'
import { useContext, useEffect } from 'preact/hooks'

export interface Unsaved {
  /** The path of the page on which it stays, whatever the address's query. */
  readonly keptAt: string | undefined
  /** Asked before it is lost, in place of the question about changes. */
  readonly question?: string
}

const held = new Set<Unsaved>()
/** Those in the dialog around, which are lost as it closes. */
export const HeldInDialog = createContext<Set<Unsaved>>(new Set())
/** The browser needn't ask any more. */
let isPageLeft = false

/**
 * @param isUnsaved whether the part of the page that calls it holds what isn't saved
 * @returns asks about this part alone, before it is closed
 */
export function useUnsaved(isUnsaved: boolean, { keptAt, question }: Unsaved): () => boolean {
  const heldInDialog = useContext(HeldInDialog)
  const own: Unsaved = { keptAt, ...(question !== undefined && { question }) }
  useEffect(() => {
    if (!isUnsaved) return
    held.add(own)
    heldInDialog.add(own)
    const ask = (event: BeforeUnloadEvent) => {
      if (!isPageLeft) event.preventDefault()
    }
    addEventListener('beforeunload', ask)
    return () => {
      held.delete(own)
      heldInDialog.delete(own)
      removeEventListener('beforeunload', ask)
    }
  }, [isUnsaved, keptAt, question])
  return () => isGivenUp(isUnsaved ? [own] : [])
}

/** @param to the address that is gone to; undefined: the page is left */
export function mayLeave(to?: string): boolean {
  const path = to && new URL(to, location.href).pathname
  return isGivenUp([...held].filter(({ keptAt }) => keptAt === undefined || keptAt !== path))
}

/** @param inside what isn't saved in the dialog that closes */
export function mayClose(inside: ReadonlySet<Unsaved>): boolean {
  return isGivenUp([...inside])
}

function isGivenUp(lost: readonly Unsaved[]): boolean {
  if (lost.length === 0) return true
  const own = lost.find(({ question }) => question !== undefined)
  return confirm(own?.question ?? "Leave without saving? What you changed isn't saved.")
}

/** For a page that ends its requests and then leaves: the browser would ask too late. */
export function mayLeavePage(): boolean {
  isPageLeft = mayLeave()
  return isPageLeft
}

/** The browser was stopped on its way. */
export function stayOnPage(): void {
  isPageLeft = false
}
