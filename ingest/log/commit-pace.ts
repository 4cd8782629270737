/**
 * When a gathering group is written. A sync costs the same for one row as for hundreds, so it waits while requests keep
 * coming in. The wait ends when a turn of the event loop brings no row, there are many rows, or a moment has passed. A
 * single event on a quiet node waits for one turn.
 */

const rowsAreMany = 256
const waitMaxMs = 1

export class CommitPace {
  private isWaiting = false
  private rowsBefore = 0
  private since = 0

  /**
   * @param rows in the group that gathers now
   * @param commit writes it, if no other is on its way
   */
  constructor(
    private readonly rows: () => number,
    private readonly commit: () => void,
  ) {}

  /** There are rows, and no group is on its way. */
  consider(): void {
    if (this.isWaiting) return
    this.isWaiting = true
    this.rowsBefore = 0
    this.since = performance.now()
    setImmediate(this.check)
  }

  private readonly check = (): void => {
    const rows = this.rows()
    const isLull = rows === this.rowsBefore
    if (!isLull && rows < rowsAreMany && performance.now() - this.since < waitMaxMs) {
      this.rowsBefore = rows
      setImmediate(this.check)
      return
    }
    this.isWaiting = false
    if (rows > 0) this.commit()
  }
}
