/** The mark between the cells of a CSV file, by the names of its columns. */

const marks = [',', ';', '\t'] as const

/** @returns the mark that is most frequent in the first row that isn't empty; marks within quotes don't count */
export function delimiterOf(csv: string): string {
  const counts = new Map<string, number>(marks.map((mark) => [mark, 0]))
  let isQuoted = false
  let beginsCell = true
  for (let at = csv.search(/[^\ufeff\r\n]/); at >= 0 && at < csv.length; at++) {
    const character = csv[at]!
    if (isQuoted) {
      if (character === '"' && csv[at + 1] === '"') at++
      else isQuoted = character !== '"'
      continue
    }
    if (character === '\n' || character === '\r') break
    isQuoted = beginsCell && character === '"'
    const count = counts.get(character)
    beginsCell = count !== undefined
    if (count !== undefined) counts.set(character, count + 1)
  }
  return marks.reduce((best, mark) => (counts.get(mark)! > counts.get(best)! ? mark : best), marks[0] as string)
}
