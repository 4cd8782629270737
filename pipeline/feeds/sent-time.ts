/** Reads an entry's time. One without a zone is UTC's, so that a feed has the same order on every machine. */
export function sentTime(text: string): Date | null {
  const hasZone = /(?:[a-z]|[+-]\d\d(?::?\d\d)?)\)?$/i.test(text)
  const time = new Date(hasZone || !text.includes(':') ? text : `${text}Z`)
  return Number.isNaN(time.getTime()) ? null : time
}
