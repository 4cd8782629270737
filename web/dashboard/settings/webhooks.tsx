/** Webhook endpoints: made, tried, removed; and what was delivered to them, with another try. */
import { useState } from 'preact/hooks'
import { webhookEndpointsMax } from '../../../schemas/limits/api-limits.ts'
import type {
  CreatedWebhookEndpoint,
  WebhookDeliveryResource,
  WebhookEndpointResource,
} from '../../../schemas/resources/webhook.ts'
import { CountedNames } from '../parts/counted-names.tsx'
import { Removal } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'
import { Failure } from '../parts/failure.tsx'
import { time } from '../parts/format.ts'
import { useListPage } from '../parts/list-pages.tsx'
import { Panel } from '../parts/panel.tsx'
import { ShownOnce, useMade } from '../parts/shown-once.tsx'
import { send, useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { WebhookForm } from './webhook-form.tsx'

type Endpoint = (typeof WebhookEndpointResource)['_output']
type Made = (typeof CreatedWebhookEndpoint)['_output']
type Delivery = (typeof WebhookDeliveryResource)['_output']

const listed = 20
const seldomMs = 60_000
const tones: Readonly<Record<Delivery['status'], string>> = { delivered: 'good', failed: 'bad', pending: 'label' }

export function Webhooks({ timezone }: { timezone: string }) {
  const { refusal, done } = useRefusal()
  const { made, add, end } = useMade<Made>()
  const [isMaking, setMaking] = useState(false)
  const [removed, remove] = useState<Endpoint>()
  const pages = { each: listed, after: ({ id }: { readonly id: number }) => ({ before_id: String(id) }) }
  const endpoints = useListPage<Endpoint>('/webhooks', pages)
  const deliveries = useListPage<Delivery>('/webhooks/deliveries', pages)
  const failure = endpoints.failure ?? deliveries.failure
  const isShown = (id: number) => endpoints.answer?.some((one) => one.id === id)
  const hasOthers = endpoints.answer && deliveries.answer?.some((one) => !isShown(one.webhook_endpoint_id))
  const { answer: all } = useAnswer<Endpoint[]>(hasOthers ? `/webhooks?limit=${webhookEndpointsMax}` : undefined, {
    againMs: seldomMs,
  })
  const urlOf = (id: number) => {
    const known = (endpoints.answer ?? []).concat(all ?? []).find((one) => one.id === id)
    return known?.url ?? (all ? 'a deleted endpoint' : '…')
  }
  return (
    <>
      {failure && <Failure {...failure} />}
      <Panel
        title="Webhooks"
        action={['Add an endpoint', () => setMaking(true)]}
        refusal={refusal}
        isComing={endpoints.isComing}
      >
        {made.map((one) => (
          <ShownOnce key={one.id} secret={one.secret} name="secret">
            The signing secret of <bdi>{one.url}</bdi>.
          </ShownOnce>
        ))}
        {endpoints.answer?.length === 0 && (
          <p class="empty">
            No endpoint yet. One gets a signed call for each post, link, contact, conversion or payment.
          </p>
        )}
        <ul>
          {endpoints.answer?.map((endpoint) => (
            <li key={endpoint.id} class="event endpoint">
              <span class="name">
                <bdi>{endpoint.url}</bdi> <bdi class="label">{endpoint.description}</bdi>
              </span>
              <CountedNames names={endpoint.events} word="event" of={endpoint.url} />
              <span class={endpoint.status === 'enabled' ? 'good' : 'bad'}>{endpoint.status}</span>
              <button
                type="button"
                aria-label={`Send a test to ${endpoint.url}`}
                onClick={async () => done(await send('POST', `/webhooks/${endpoint.id}/test`))}
              >
                Test
              </button>
              <button
                type="button"
                class="danger"
                aria-label={`Delete ${endpoint.url}`}
                onClick={() => remove(endpoint)}
              >
                Delete
              </button>
            </li>
          ))}
        </ul>
        {endpoints.pager}
      </Panel>
      <Panel title="Deliveries" label="Newest first" isComing={deliveries.isComing}>
        {deliveries.answer?.length === 0 && <p class="empty">No deliveries yet.</p>}
        <ul>
          {deliveries.answer?.map((delivery) => (
            <OneDelivery
              key={delivery.id}
              delivery={delivery}
              timezone={timezone}
              url={urlOf(delivery.webhook_endpoint_id)}
              again={async () => done(await send('POST', `/webhooks/deliveries/${delivery.id}/redeliver`))}
            />
          ))}
        </ul>
        {deliveries.pager}
      </Panel>
      {isMaking && (
        <WebhookForm
          close={() => setMaking(false)}
          made={(endpoint) => {
            add(endpoint)
            done({ made: endpoint })
          }}
        />
      )}
      {removed && (
        <Removal
          title="Delete this endpoint"
          verb="Delete"
          path={`/webhooks/${removed.id}`}
          close={() => remove(undefined)}
          done={(sent) => {
            end(removed.id, sent)
            done(sent)
          }}
        >
          Nothing more is sent to <bdi>{removed.url}</bdi>, and its pending deliveries fail. This can’t be undone.
        </Removal>
      )}
    </>
  )
}

interface DeliveryProps {
  readonly delivery: Delivery
  readonly url: string
  readonly timezone: string
  again(): void
}

function OneDelivery({ delivery, url, timezone, again }: DeliveryProps) {
  const { event_type, event_id, status, attempt_count, response_status, response_body, duration_ms, error } = delivery
  const { created_at, next_attempt_at } = delivery
  const facts: [string, string][] = [
    ['Event', event_id],
    ['Attempts', String(attempt_count)],
    [
      'Response',
      response_status === null ? '–' : `${response_status}${duration_ms === null ? '' : ` after ${duration_ms} ms`}`,
    ],
    ['Next attempt', next_attempt_at === null ? '–' : time(next_attempt_at, timezone)],
  ]
  return (
    <li class="item">
      <details>
        <summary>
          <span class="name">
            {event_type} <bdi class="label">{url}</bdi>
          </span>
          <span class={tones[status]}>
            {status}
            {response_status !== null && ` ${response_status}`}
          </span>
          <time dateTime={created_at}>{time(created_at, timezone)}</time>
        </summary>
        <Facts facts={facts} />
        {(error || response_body) && <pre>{[error, response_body].filter(Boolean).join('\n')}</pre>}
        <button type="button" aria-label={`Deliver again: ${event_type} to ${url}`} onClick={again}>
          Deliver again
        </button>
      </details>
    </li>
  )
}
