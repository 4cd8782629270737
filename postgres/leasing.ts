/** Which due rows a process leases, and for how long. Times come from the caller's clock. */
export interface Leasing {
  readonly now: Date
  /** Others may lease them from then on. */
  readonly until: Date
  readonly max: number
}
