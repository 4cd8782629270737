/** Which passwords are taken, wherever one is chosen. */
import { passwordLengthMax, passwordLengthMin } from './limits/api-limits.ts'

export function isTakenAsPassword(text: string): boolean {
  const { length } = [...text]
  return length >= passwordLengthMin && length <= passwordLengthMax && text.isWellFormed()
}
