/** A new webhook endpoint: where it is, and which events it takes; all if none is selected. */
import { useEffect, useState } from 'preact/hooks'
import type { CreatedWebhookEndpoint } from '../../../schemas/resources/webhook.ts'
import { Choices } from '../parts/choices.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { send } from '../requests/query.ts'

type Made = (typeof CreatedWebhookEndpoint)['_output']

/** As far as it is looked at. */
interface OpenApiDocument {
  readonly components: {
    readonly schemas: {
      readonly WebhookCreate: {
        readonly properties: { readonly events: { readonly items: { readonly enum: string[] } } }
      }
    }
  }
}

/** The names of events, from the API's own document; none while it isn't there. */
function useEventTypes(): readonly string[] {
  const [names, setNames] = useState<readonly string[]>([])
  useEffect(() => {
    fetch('/v1/openapi.json')
      .then((response) => response.json() as Promise<OpenApiDocument>)
      .then(
        ({ components: { schemas } }) => setNames(schemas.WebhookCreate.properties.events.items.enum),
        () => undefined,
      )
  }, [])
  return names
}

export function WebhookForm({ made, close }: { made(endpoint: Made): void; close(): void }) {
  const names = useEventTypes()
  const submit = (data: FormData) => {
    const events = data.getAll('events')
    return send<Made>('POST', '/webhooks', {
      url: data.get('url'),
      description: data.get('description'),
      ...(events.length > 0 && { events }),
    })
  }
  return (
    <FormDialog title="Add an endpoint" verb="Add" close={close} made={made} submit={submit}>
      <label>
        URL
        <input name="url" type="url" placeholder="https://example.com/hooks" maxLength={2048} required />
      </label>
      <label>
        Description
        <input name="description" maxLength={500} />
      </label>
      <Choices legend="Events (all if none is selected)" name="events" values={names} />
    </FormDialog>
  )
}
