/** When a link ends, and where it leads then. */
import type { z } from 'zod'
import type { LinkFields } from '../../postgres/tables/links/links.ts'
import { invalid } from '../../schemas/errors/problems.ts'
import { type Loc, valueError } from '../../schemas/errors/validation-errors.ts'
import type { LinkUpdate } from '../../schemas/resources/link.ts'
import { requireDate } from '../../schemas/time/written-time.ts'

type Expiry = Pick<LinkFields, 'expires_at' | 'expired_url'>

/**
 * A member that isn't sent stays; without an end there is no address for it.
 * @param before null of a new link, whose end must lie in the future: else it would never lead where it was made for
 * @param loc of the link in the request
 * @throws Problem 422
 */
export function expiryAfter(
  before: Expiry | null,
  sent: Pick<z.output<typeof LinkUpdate>, 'expires_at' | 'expired_url'>,
  { timezone, now, loc = ['body'] }: { readonly timezone: string; readonly now: number; readonly loc?: Loc },
): Expiry {
  const timeLoc = [...loc, 'expires_at']
  const { expires_at: written, expired_url: url } = sent
  const expiresAt =
    written === undefined ? (before?.expires_at ?? null) : written && requireDate(written, timezone, timeLoc)
  if (before === null && expiresAt !== null && expiresAt.getTime() <= now) {
    throw invalid([valueError(timeLoc, written?.sent, 'The time must lie in the future')])
  }
  if (expiresAt !== null) {
    return { expires_at: expiresAt, expired_url: url === undefined ? (before?.expired_url ?? null) : url }
  }
  if (url != null)
    throw invalid([valueError([...loc, 'expired_url'], url, 'It needs a time at which the link expires')])
  return { expires_at: null, expired_url: null }
}
