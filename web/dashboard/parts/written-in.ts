/** The fields of a form as text. One that stays open is emptied only if it still holds what was sent: the next may be begun. */
export function writtenIn(form: HTMLFormElement): string {
  return JSON.stringify([...new FormData(form)])
}
