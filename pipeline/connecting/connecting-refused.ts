import type { AccountField } from '../../schemas/reference/account-fields.ts'

/** Why an account isn't connected, in words for whoever wants to. It shows nothing of the secret. */
export class ConnectingRefused extends Error {
  override name = 'ConnectingRefused'
  /** The value that the message is about, and that it doesn't name; null: a whole sentence, of the platform or the workspace. */
  readonly field: AccountField | 'secret' | null

  constructor(field: ConnectingRefused['field'], message: string) {
    super(message)
    this.field = field
  }
}
