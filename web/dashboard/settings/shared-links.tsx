/** Shared links, on which anybody sees overview, events, funnels and retention: made with a name, shown once, and revoked. */
import { useState } from 'preact/hooks'
import type { CreatedSharedLink, SharedLinks as SharedLinksResource } from '../../../schemas/resources/shared-link.ts'
import { FormDialog, Removal } from '../parts/dialog.tsx'
import { time } from '../parts/format.ts'
import { Panel } from '../parts/panel.tsx'
import { ShownOnce, useMade } from '../parts/shown-once.tsx'
import { send, useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { ExpiryField, expiryIn, KeyState } from './key-expiry.tsx'

type Links = (typeof SharedLinksResource)['_output']
type Made = (typeof CreatedSharedLink)['_output']

export function SharedLinks({ timezone }: { timezone: string }) {
  const { refusal, done } = useRefusal()
  const { made, add, end } = useMade<Made>()
  const [isMaking, setMaking] = useState(false)
  const [revoked, revoke] = useState<Links[number]>()
  const { answer, failure, isComing } = useAnswer<Links>('/shared-links')
  return (
    <Panel
      title="Shared links"
      action={['Make a link', () => setMaking(true)]}
      failure={failure}
      refusal={refusal}
      isComing={isComing}
    >
      {made.map((one) => (
        <ShownOnce key={one.id} secret={one.url} name="link">
          The link <bdi>{one.name}</bdi>.
        </ShownOnce>
      ))}
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
            <KeyState timezone={timezone} of={link} />
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
            add(link)
            done({ made: link })
          }}
        />
      )}
      {revoked && (
        <Removal
          title="Revoke this link"
          verb="Revoke"
          path={`/shared-links/${revoked.id}`}
          close={() => revoke(undefined)}
          done={(sent) => {
            end(revoked.id, sent)
            done(sent)
          }}
        >
          <bdi>{revoked.name}</bdi> stops working within five seconds, and on every page that embeds it. This can’t be
          undone.
        </Removal>
      )}
    </Panel>
  )
}

function LinkForm({ made, close }: { made(link: Made): void; close(): void }) {
  return (
    <FormDialog
      title="Make a link"
      verb="Create"
      close={close}
      made={made}
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
