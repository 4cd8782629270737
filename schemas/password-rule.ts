/** Which passwords may be chosen, wherever one is chosen. */
import { passwordLengthMax, passwordLengthMin } from './limits/api-limits.ts'

export function isAcceptablePassword(text: string): boolean {
  const { length } = [...text]
  return length >= passwordLengthMin && length <= passwordLengthMax && text.isWellFormed()
}
