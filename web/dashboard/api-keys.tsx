/** Secret keys for scripts and agents: made with scopes, shown once, and revoked. */
import { useState } from 'preact/hooks'
import type { ApiKeyResource, ApiKeys as ApiKeysResource, CreatedApiKey } from '../../schemas/resources/api-key.ts'
import { Dialog } from './dialog.tsx'
import { time } from './format.ts'
import { Copy, Failure, Refusal } from './parts.tsx'
import { type Sent, send, useAnswer } from './query.ts'

type Key = (typeof ApiKeyResource)['_output']
type Answer = (typeof ApiKeysResource)['_output']
type Made = (typeof CreatedApiKey)['_output']

export function ApiKeys({ timezone }: { timezone: string }) {
  const [round, setRound] = useState(0)
  const [made, setMade] = useState<Made>()
  const [isMaking, setMaking] = useState(false)
  const [revoked, revoke] = useState<Key>()
  const [refusal, setRefusal] = useState('')
  const { answer, failure } = useAnswer<Answer>('/api-keys', { round })
  const done = (sent: Sent<unknown>) => {
    setRefusal('refusal' in sent ? sent.refusal : '')
    setRound((before) => before + 1)
  }
  return (
    <section class="panel" aria-label="API keys">
      <h2>
        API keys
        <button type="button" onClick={() => setMaking(true)}>
          Make a key
        </button>
      </h2>
      {failure && <Failure {...failure} />}
      <Refusal text={refusal} />
      {made && <Shown made={made} />}
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
            <span class="label" title={key.scopes.join('\n')}>
              {key.scopes.length} {key.scopes.length === 1 ? 'scope' : 'scopes'}
            </span>
            <span class="label">
              {key.last_used_at === null ? 'never used' : `used ${time(key.last_used_at, timezone)}`}
            </span>
            <State {...{ timezone }} of={key} />
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
            setMade(key)
            setMaking(false)
            done({ made: key })
          }}
        />
      )}
      {revoked && (
        <Dialog title="Revoke this key" close={() => revoke(undefined)}>
          <p>
            Whoever uses <bdi>{revoked.name}</bdi> is refused within five seconds. It can’t be undone.
          </p>
          <button
            type="button"
            class="danger"
            onClick={async () => {
              done(await send('DELETE', `/api-keys/${revoked.id}`))
              revoke(undefined)
            }}
          >
            Revoke
          </button>
        </Dialog>
      )}
    </section>
  )
}

function State({ of: { revoked_at, expires_at }, timezone }: { of: Key; timezone: string }) {
  if (revoked_at !== null) return <span class="bad">revoked</span>
  if (expires_at === null) return <span class="good">live</span>
  if (Date.parse(expires_at) <= Date.now()) return <span class="bad">expired</span>
  return <span class="good">until {time(expires_at, timezone)}</span>
}

function Shown({ made: { name, api_key } }: { made: Made }) {
  return (
    <div class="copied" role="status">
      <p class="wide">
        The key <bdi>{name}</bdi>. It is shown this once:
      </p>
      <pre>{api_key}</pre>
      <Copy text={api_key} label="Copy the key" />
    </div>
  )
}

interface KeyFormProps {
  readonly scopes: readonly string[]
  made(key: Made): void
  close(): void
}

function KeyForm({ scopes, made, close }: KeyFormProps) {
  const [refusal, setRefusal] = useState('')
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget as HTMLFormElement)
    const expires = String(data.get('expires'))
    const sent = await send<Made>('POST', '/api-keys', {
      ...{ name: data.get('name'), scopes: data.getAll('scopes') },
      ...(expires !== '' && { expires_at: expires }),
    })
    if ('refusal' in sent) setRefusal(sent.refusal)
    else made(sent.made)
  }
  return (
    <Dialog title="Make a key" close={close}>
      <form class="editor" onSubmit={submit}>
        <label>
          Name
          <input name="name" placeholder="What it is for" required />
        </label>
        <fieldset>
          <legend>What it may do</legend>
          <div class="event-types">
            {scopes.map((name) => (
              <label key={name} class="choice">
                <input type="checkbox" name="scopes" value={name} /> {name}
              </label>
            ))}
          </div>
        </fieldset>
        <label>
          Works until the beginning of this day; for ever where none is chosen
          <input name="expires" type="date" />
        </label>
        <Refusal text={refusal} />
        <button type="submit">Make it</button>
      </form>
    </Dialog>
  )
}
