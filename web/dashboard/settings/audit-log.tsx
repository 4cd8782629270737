/** Changes in the workspace, when and by whom. */
import type { AuditEventResource } from '../../../schemas/resources/audit-event.ts'
import { Facts } from '../parts/facts.tsx'
import { accountName, time } from '../parts/format.ts'
import { useListPage } from '../parts/list-pages.tsx'
import { Panel } from '../parts/panel.tsx'

type AuditEvent = (typeof AuditEventResource)['_output']

const listed = 20

export function AuditLog({ timezone }: { timezone: string }) {
  const { answer, failure, pager } = useListPage<AuditEvent>('/audit-log', {
    each: listed,
    after: ({ id }) => ({ before_id: String(id) }),
  })
  return (
    <Panel title="Audit log" label="Newest first" failure={failure}>
      {answer?.length === 0 && <p class="empty">No changes yet.</p>}
      <ul>
        {answer?.map((event) => (
          <OneEvent key={event.id} event={event} timezone={timezone} />
        ))}
      </ul>
      {pager}
    </Panel>
  )
}

function OneEvent({ event, timezone }: { event: AuditEvent; timezone: string }) {
  const { action, actor_type, actor_name, interface: by, resource_type, resource_id, request_id, created_at } = event
  const facts: [string, string][] = [
    ['Actor', actor_type],
    ['Interface', by],
    ['Resource', resource_id === null ? resource_type : `${resource_type}_${resource_id}`],
    ['Request', request_id ?? '–'],
    ['Hash', event.hash],
  ]
  return (
    <li class="item">
      <details>
        <summary>
          <span class="name">
            {action} <bdi class="label">{accountName(actor_name)}</bdi>
          </span>
          <time dateTime={created_at}>{time(created_at, timezone)}</time>
        </summary>
        <Facts facts={facts} />
        <pre>{JSON.stringify(event.metadata, null, 2)}</pre>
      </details>
    </li>
  )
}
