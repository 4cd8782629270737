/** The browser's history: its entries are numbered, so that Back and Forward can be undone. */

/** The entry that is shown. */
let shown = numberOf(history.state) ?? mark(0)

export function isShown(address: string): boolean {
  return new URL(address, location.href).href === location.href
}

/** Kept with the entry that is shown, for whoever comes back to it. */
interface EntryState {
  /** Pixels that the page was scrolled by. */
  readonly top?: number | undefined
  /** Pages of lists, by the list's path. */
  readonly places?: Readonly<Record<string, readonly string[]>>
}

export function entryState(): EntryState {
  return (history.state as EntryState | null) ?? {}
}

export function updateEntryState(changes: EntryState): void {
  history.replaceState({ ...history.state, ...changes }, '')
}

/** Back leads away from it. */
export function pushAddress(address: string): void {
  updateEntryState({ top: scrollY })
  shown += 1
  history.pushState({ number: shown }, '', address)
}

/** Takes the place of the one that is shown. */
export function replaceAddress(address: string): void {
  history.replaceState(history.state, '', address)
}

/**
 * Follows the history to another entry, or leads it back to the one that is shown.
 *
 * @param mayLeave asks
 * @returns whether the other entry is shown from now on
 */
export function follow(mayLeave: () => boolean): boolean {
  // A link to a section of the page makes an entry of its own.
  const to = numberOf(history.state) ?? mark(shown + 1)
  const isFollowed = to === shown || mayLeave()
  if (isFollowed) shown = to
  else history.go(shown - to)
  return isFollowed
}

function mark(number: number): number {
  history.replaceState({ number }, '')
  return number
}

function numberOf(state: { readonly number?: number } | null): number | undefined {
  return state?.number
}
