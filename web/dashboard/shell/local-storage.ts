/** Texts that this browser remembers for the dashboard, by name. Frames within other sites may have no storage: nothing is remembered there. */

export function readStored(place: string): string | null {
  try {
    return localStorage.getItem(place)
  } catch {
    return null
  }
}

export function writeStored(place: string, text: string): void {
  try {
    localStorage.setItem(place, text)
  } catch {
    // It holds for the page.
  }
}
