/** A page that the browser keeps in memory, and goes back to, is loaded again. One that is still loading is shown first. */
export function reloadAfterBack(): void {
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload())
}
