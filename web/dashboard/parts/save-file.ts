/** A text that the browser keeps as a file. */

/** By it spreadsheets know UTF-8. */
const byteOrderMark = '\uFEFF'
/** Browsers may read the file a moment after the click. */
const savedWithinMs = 10_000

export function saveFile(name: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([byteOrderMark, text], { type: 'text/csv' }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), savedWithinMs)
}
