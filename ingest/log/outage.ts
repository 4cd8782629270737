/** Since when something has failed without a break. */
export class Outage {
  private since: number | undefined

  begin(): void {
    this.since ??= performance.now()
  }

  end(): void {
    this.since = undefined
  }

  get isOn(): boolean {
    return this.since !== undefined
  }

  /** How long it has lasted; 0 without one. */
  ms(): number {
    return this.since === undefined ? 0 : performance.now() - this.since
  }
}
