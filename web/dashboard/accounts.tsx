/** Accounts that posts go out through, whether they work, and how one is connected. */
import type { SocialAccountResource } from '../../schemas/resources/social-account.ts'
import { Copied } from './install.tsx'
import { may } from './may.ts'
import { Failure } from './parts.tsx'
import { useAnswer } from './query.ts'

type Account = (typeof SocialAccountResource)['_output']

export function Accounts({ workspaceId }: { workspaceId: number }) {
  const { answer, failure } = useAnswer<Account[]>('/social-accounts')
  const connect = `npx svc accounts connect --workspace ${workspaceId}`
  return (
    <section class="panel" aria-label="Accounts">
      <h2>Accounts</h2>
      {failure && <Failure {...failure} />}
      {answer?.length === 0 && <p class="empty">No account is connected yet. Posts are published through accounts.</p>}
      <ul>
        {answer?.map((account) => (
          <li key={account.id} class="event endpoint">
            <span class="name">
              <bdi>{account.handle}</bdi> <span class="label">{account.platform}</span>
            </span>
            {account.connection_type === 'simulated' && <span class="label">simulated: it publishes nowhere</span>}
            <Health {...account} />
          </li>
        ))}
      </ul>
      {may('workspace:manage') && (
        <details>
          <summary>Connect or reconnect an account</summary>
          <p>On the machine that the product runs on. Secrets are stored encrypted.</p>
          <Copied text={`${connect} --platform mastodon --url https://mastodon.social --secret-file /dev/stdin`} />
          <Copied text={`${connect} --platform bluesky --handle shop.bsky.social --secret-file /dev/stdin`} />
          <Copied text={`${connect} --platform x --secret-file /dev/stdin`} />
          <Copied text={`${connect} --platform linkedin --secret-file /dev/stdin`} />
          <Copied text={`${connect} --platform threads --secret-file /dev/stdin`} />
          <Copied text={`${connect} --platform instagram --page 1755847768034402 --secret-file /dev/stdin`} />
          <Copied text={`${connect} --platform facebook --page 1755847768034402 --secret-file /dev/stdin`} />
        </details>
      )}
    </section>
  )
}

function Health({ status, health_status = 'ok', health_message = '' }: Account) {
  if (status !== 'connected') return <span class="bad">{status}</span>
  if (health_status === 'ok') return <span class="good">works</span>
  return (
    <span class={health_status === 'error' ? 'bad' : 'label'}>
      <bdi>{health_message || health_status}</bdi>
    </span>
  )
}
