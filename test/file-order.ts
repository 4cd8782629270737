/** The order in which test files are begun. */

/** Of a whole run on two cores, those that take longest: where the machine is slow, minutes each. */
const longest =
  /\/test\/(crash\/|property\/(aggregates|overview|session)|integration\/(aggregate|retention|start|doctor|pipeline|no-addresses|marks)|browser\/(delivery|careful|autocapture|consent))/

/** Those that take a second or less. */
export function isShort(file: string): boolean {
  return /\/test\/(unit|tidy|oracle)\//.test(file)
}

/**
 * The longest ones come first and the short ones last, so that no core is idle while the last of the others run; of the
 * others the last may be left out (support/timed-runner.ts), and whatever has no like comes before that.
 */
export function inOrder<File>(files: readonly File[], pathOf: (file: File) => string): File[] {
  const rank = (file: File) => {
    const path = pathOf(file)
    if (longest.test(path)) return 0
    if (isShort(path)) return 3
    return path.includes('/test/integration/') ? 2 : 1
  }
  return [...files].sort((one, other) => rank(one) - rank(other))
}
