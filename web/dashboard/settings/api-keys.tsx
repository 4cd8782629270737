/** Secret keys for scripts and agents: made with scopes, shown once, and revoked. */
import { useState } from 'preact/hooks'
import type { ApiKeyResource, ApiKeys as ApiKeysResource, CreatedApiKey } from '../../../schemas/resources/api-key.ts'
import { Choices } from '../parts/choices.tsx'
import { CountedNames } from '../parts/counted-names.tsx'
import { FormDialog, Removal } from '../parts/dialog.tsx'
import { time } from '../parts/format.ts'
import { Panel } from '../parts/panel.tsx'
import { ShownOnce, useMade } from '../parts/shown-once.tsx'
import { send, useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { ExpiryField, expiryIn, KeyState } from './key-expiry.tsx'

type Key = (typeof ApiKeyResource)['_output']
type Answer = (typeof ApiKeysResource)['_output']
type Made = (typeof CreatedApiKey)['_output']

export function ApiKeys({ timezone }: { timezone: string }) {
  const { refusal, done } = useRefusal()
  const { made, add, end } = useMade<Made>()
  const [isMaking, setMaking] = useState(false)
  const [revoked, revoke] = useState<Key>()
  const { answer, failure, isComing } = useAnswer<Answer>('/api-keys')
  return (
    <Panel
      title="API keys"
      action={['Make a key', () => setMaking(true)]}
      failure={failure}
      refusal={refusal}
      isComing={isComing}
    >
      {made.map((one) => (
        <ShownOnce key={one.id} secret={one.api_key} name="key">
          The key <bdi>{one.name}</bdi>.
        </ShownOnce>
      ))}
      {answer?.keys.length === 0 && (
        <p class="empty">
          Scripts and agents ask the <a href="/docs">API</a> with a secret key of their own.
        </p>
      )}
      <ul>
        {answer?.keys.map((key) => (
          <li key={key.id} class="event endpoint">
            <span class="name">
              <bdi>{key.name}</bdi> <span class="label">{key.prefix}…</span>
            </span>
            <CountedNames names={key.scopes} word="scope" of={key.name} />
            <span class="label">
              {key.last_used_at === null ? 'never used' : `used ${time(key.last_used_at, timezone)}`}
            </span>
            <KeyState timezone={timezone} of={key} />
            {key.revoked_at === null && (
              <button type="button" class="danger" aria-label={`Revoke ${key.name}`} onClick={() => revoke(key)}>
                Revoke
              </button>
            )}
          </li>
        ))}
      </ul>
      {isMaking && answer && (
        <KeyForm
          scopes={answer.scopes}
          close={() => setMaking(false)}
          made={(key) => {
            add(key)
            done({ made: key })
          }}
        />
      )}
      {revoked && (
        <Removal
          title="Revoke this key"
          verb="Revoke"
          path={`/api-keys/${revoked.id}`}
          close={() => revoke(undefined)}
          done={(sent) => {
            end(revoked.id, sent)
            done(sent)
          }}
        >
          <bdi>{revoked.name}</bdi> stops working within five seconds. This can’t be undone.
        </Removal>
      )}
    </Panel>
  )
}

interface KeyFormProps {
  readonly scopes: readonly string[]
  made(key: Made): void
  close(): void
}

function KeyForm({ scopes, made, close }: KeyFormProps) {
  const submit = (data: FormData) =>
    send<Made>('POST', '/api-keys', {
      name: data.get('name'),
      scopes: data.getAll('scopes'),
      ...expiryIn(data),
    })
  return (
    <FormDialog title="Make a key" verb="Create" close={close} made={made} submit={submit}>
      <label>
        Name
        <input name="name" placeholder="What is it for?" maxLength={120} required />
      </label>
      <Choices legend="Scopes" name="scopes" values={scopes} />
      <ExpiryField />
    </FormDialog>
  )
}
