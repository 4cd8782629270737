/** Short domains as the API shows them. */
import type { z } from 'zod'
import type { StoredDomain } from '../../../postgres/tables/links/short-domains.ts'
import type { ShortDomain } from '../../../schemas/resources/short-domain.ts'
import { proofOf } from '../../../schemas/short-domain.ts'

export function serializeDomain({
  token,
  verified_at,
  checked_at,
  created_at,
  ...domain
}: StoredDomain): z.output<typeof ShortDomain> {
  return {
    ...domain,
    object_id: `domain_${domain.id}`,
    status: verified_at === null ? 'pending' : 'verified',
    record: { type: 'TXT', ...proofOf(domain.host, token) },
    verified_at: verified_at?.toISOString() ?? null,
    checked_at: checked_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
  }
}
