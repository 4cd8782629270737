/** Shared links, on which anybody sees the overview: made with a name, shown once, and revoked. */
import { useState } from 'preact/hooks'
import type { CreatedSharedLink, SharedLinks as SharedLinksResource } from '../../schemas/resources/shared-link.ts'
import { Confirm, FormDialog } from './dialog.tsx'
import { time } from './format.ts'
import { ExpiryField, expiryIn, KeyState } from './key-expiry.tsx'
import { Failure, Refusal, ShownOnce } from './parts.tsx'
import { send, useAnswer, useRefusal } from './query.ts'

type Links = (typeof SharedLinksResource)['_output']
type Made = (typeof CreatedSharedLink)['_output']

export function SharedLinks({ timezone }: { timezone: string }) {
  const { refusal, done } = useRefusal()
  const [made, setMade] = useState<Made>()
  const [isMaking, setMaking] = useState(false)
  const [revoked, revoke] = useState<Links[number]>()
  const { answer, failure } = useAnswer<Links>('/shared-links')
  return (
    <section class="panel" aria-label="Shared links">
      <h2>
        Shared links
        <button type="button" onClick={() => setMaking(true)}>
          Make a link
        </button>
      </h2>
      {failure && <Failure {...failure} />}
      <Refusal text={refusal} />
      {made && (
        <ShownOnce secret={made.url} name="link">
          The link <bdi>{made.name}</bdi>.
        </ShownOnce>
      )}
      {answer?.length === 0 && (
        <p class="empty">
          Whoever has such a link sees overview, events, funnels and retention without an account: figures, and no
          people.
        </p>
      )}
      <ul>
        {answer?.map((link) => (
          <li key={link.id} class="event endpoint">
            <span class="name">
              <bdi>{link.name}</bdi> <span class="label">{link.prefix}…</span>
            </span>
            <span class="label">
              {link.last_used_at === null ? 'never used' : `used ${time(link.last_used_at, timezone)}`}
            </span>
            <KeyState {...{ timezone }} of={link} />
            {link.revoked_at === null && (
              <button
                type="button"
                class="danger"
                aria-label={`Revoke the link ${link.name}`}
                onClick={() => revoke(link)}
              >
                Revoke
              </button>
            )}
          </li>
        ))}
      </ul>
      {isMaking && (
        <LinkForm
          close={() => setMaking(false)}
          made={(link) => {
            setMade(link)
            setMaking(false)
            done({ made: link })
          }}
        />
      )}
      {revoked && (
        <Confirm
          title="Revoke this link"
          verb="Revoke"
          close={() => revoke(undefined)}
          confirmed={async () => {
            done(await send('DELETE', `/shared-links/${revoked.id}`))
            revoke(undefined)
          }}
        >
          <bdi>{revoked.name}</bdi> stops working within five seconds, and on every page that embeds it. This can’t be
          undone.
        </Confirm>
      )}
    </section>
  )
}

function LinkForm({ made, close }: { made(link: Made): void; close(): void }) {
  return (
    <FormDialog
      title="Make a link"
      verb="Create"
      {...{ close, made }}
      submit={(data) => send<Made>('POST', '/shared-links', { name: data.get('name'), ...expiryIn(data) })}
    >
      <label>
        Name
        <input name="name" placeholder="Who is it for?" maxLength={120} required />
      </label>
      <ExpiryField />
    </FormDialog>
  )
}
