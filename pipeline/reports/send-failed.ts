/** The error of a message that didn't go out, or perhaps did. Its text is logged and shown, so it has no address. */
export class SendFailed extends Error {
  override name = 'SendFailed'
  /** The receiver may have it. */
  readonly isUncertain: boolean
  /** Another attempt would fail, too. */
  readonly isFinal: boolean
  /** How long the receiver wants no other attempt. */
  readonly waitMs: number

  constructor(message: string, { isUncertain = false, isFinal = false, waitMs = 0 } = {}) {
    super(message)
    this.isUncertain = isUncertain
    this.isFinal = isFinal
    this.waitMs = waitMs
  }
}
