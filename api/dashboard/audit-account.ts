/** Rows of the audit log about changes that people make to their own account, or an owner to a member’s. */
import type { Queryable } from '../../postgres/client.ts'
import { appendAuditEvent } from '../../postgres/tables/workspaces/audit.ts'
import type { HttpRequest } from '../../runtime/http/server.ts'
import { addressOf, type RestGateway } from '../transports/rest.ts'

export interface AccountChange {
  readonly workspaceId: number
  readonly action: `member.${string}`
  readonly ownerId: number
  readonly email: string
  /** Whose account was changed, where it isn't the own one. */
  readonly memberId?: number
  readonly metadata?: Readonly<Record<string, unknown>>
}

export type AuditAccount = (tx: Queryable, request: HttpRequest, change: AccountChange) => Promise<void>

/** To be the last statement of its transaction, as `appendAuditEvent`. */
export function makeAccountAudit(gateway: Pick<RestGateway, 'hashAddress' | 'proxies'>): AuditAccount {
  return (tx, request, { workspaceId, action, ownerId, email, memberId = ownerId, metadata = {} }) => {
    const address = addressOf(request, gateway)
    return appendAuditEvent(tx, {
      workspaceId,
      action,
      actorType: 'user',
      actorId: ownerId,
      actorName: email,
      metadata,
      interface: 'console',
      resourceType: 'member',
      resourceId: memberId,
      requestId: request.requestId,
      ipHash: address === '' ? null : gateway.hashAddress(workspaceId, address),
    })
  }
}
