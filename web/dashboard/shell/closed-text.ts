const isolates = /[\u2066-\u2069]/g
const end = '\u2069'

/** The text with an end for each isolate of direction that it opens, and without ends of others. */
export function closedText(text: string): string {
  let open = 0
  const kept = text.replace(isolates, (mark) => {
    open += mark === end ? -1 : 1
    if (open >= 0) return mark
    open = 0
    return ''
  })
  return kept + end.repeat(open)
}
