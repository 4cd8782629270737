/** Accounts that posts go out through: whether they work, and when that was last said; connected, connected again, and disconnected. */
import { useState } from 'preact/hooks'
import type { AccountSignInPlatforms } from '../../../schemas/resources/social-account.ts'
import { Removal } from '../parts/dialog.tsx'
import { time } from '../parts/format.ts'
import { Panel } from '../parts/panel.tsx'
import { useIsOpen } from '../parts/use-is-open.ts'
import { useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { may } from '../shell/may.ts'
import { type Account, AccountForm, type Connected } from './account-form.tsx'
import { type Platform, platformForms } from './account-platforms.tsx'
import { leaveForSignIn } from './begin-sign-in.ts'

/** Apps at platforms are named by a command. */
const seldomMs = 60_000

export function Accounts({ timezone }: { timezone: string }) {
  const { answer, failure, isComing } = useAnswer<Account[]>('/social-accounts/checked')
  const { answer: signIns, failure: unknown } = useAnswer<(typeof AccountSignInPlatforms)['_output']>(
    may('workspace:manage') ? '/social-accounts/sign-in' : undefined,
    { againMs: seldomMs },
  )
  const { refusal, done } = useRefusal()
  const [form, setForm] = useState<{ readonly renewed?: Account }>()
  const [made, setMade] = useState<Connected>()
  const [ended, end] = useState<Account>()
  const isThere = useIsOpen()
  const platforms: readonly Platform[] = signIns?.platforms ?? []
  /** Until then a form might change under the hand that fills it. */
  const isKnown = signIns !== undefined || unknown !== undefined || !may('workspace:manage')
  /** False once another dialog is open: a late answer doesn't take its user away. */
  const isAwaited = {
    get current() {
      return isThere.current && document.querySelector('dialog[open]') === null
    },
  }
  const renew = async (account: Account) => {
    if (!platforms.includes(account.platform)) return setForm({ renewed: account })
    setMade(undefined)
    done(await leaveForSignIn({ platform: account.platform, renews: account.id }, isAwaited))
  }
  return (
    <Panel
      title="Accounts"
      action={may('workspace:manage') && ['Connect an account', () => setForm({})]}
      failure={failure}
      refusal={refusal}
      isComing={isComing}
    >
      <p role="status" class={made ? 'good' : 'unseen'}>
        {made && (
          <>
            <bdi>{made.handle}</bdi> is connected{made.is_renewed && ' again'}.
          </>
        )}
      </p>
      {answer?.length === 0 && <p class="empty">No account is connected yet. Posts are published through accounts.</p>}
      <ul>
        {answer?.map((account) => (
          <OneAccount
            key={account.id}
            account={account}
            timezone={timezone}
            isKnown={isKnown}
            renew={() => renew(account)}
            end={end}
          />
        ))}
      </ul>
      {form && isKnown && (
        <AccountForm
          renewed={form.renewed}
          signIns={platforms}
          close={() => setForm(undefined)}
          made={(account) => {
            setMade(account)
            done({ made: account })
          }}
        />
      )}
      {ended && (
        <Removal
          title="Disconnect this account"
          verb="Disconnect"
          path={`/social-accounts/${ended.id}`}
          close={() => end(undefined)}
          done={(sent) => {
            setMade(undefined)
            done(sent)
          }}
        >
          Nothing more is published to <bdi>{ended.handle}</bdi>, and its credentials are deleted here. Scheduled posts
          stay scheduled, but fail for this account if it isn’t connected again before their time.
        </Removal>
      )}
    </Panel>
  )
}

interface OneAccountProps {
  readonly account: Account
  readonly timezone: string
  /** Whether a press signs in, or asks for a token. */
  readonly isKnown: boolean
  renew(): void
  end(account: Account): void
}

function OneAccount({ account, timezone, isKnown, renew, end }: OneAccountProps) {
  const { handle, platform, display_name: name, checked_at: checkedAt } = account
  const { name: network } = platformForms[platform]
  const isSimulated = account.connection_type === 'simulated'
  return (
    <li class="event endpoint">
      <span class="name">
        <bdi>{handle}</bdi> {name !== handle && <bdi class="label">{name}</bdi>} <span class="label">{network}</span>
      </span>
      {isSimulated && <span class="label">simulated: it publishes nowhere</span>}
      <Health {...account} />
      {checkedAt && <span class="label">checked {time(checkedAt, timezone)}</span>}
      {may('workspace:manage') && !isSimulated && (
        <button
          type="button"
          aria-disabled={!isKnown}
          aria-label={`Connect again ${handle} on ${network}`}
          onClick={renew}
        >
          Connect again
        </button>
      )}
      {may('workspace:manage') && account.status !== 'disconnected' && (
        <button
          type="button"
          class="danger"
          aria-label={`Disconnect ${handle} on ${network}`}
          onClick={() => end(account)}
        >
          Disconnect
        </button>
      )}
    </li>
  )
}

function Health({ status, health_status = 'ok', health_message = '' }: Account) {
  if (status === 'disconnected') return <span class="bad">disconnected</span>
  const said = <bdi>{health_message || health_status}</bdi>
  if (status === 'expired') return <span class="bad">expired: {said}</span>
  if (health_status === 'ok') return <span class="good">works</span>
  return <span class={health_status === 'error' ? 'bad' : 'label'}>{said}</span>
}
