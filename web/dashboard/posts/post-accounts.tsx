/** The accounts that a post is published to. */

import { addressOf } from '../shell/shared-page.ts'
import type { Account } from './post-draft.ts'

interface AccountsProps {
  readonly accounts: readonly Account[] | undefined
  readonly chosen: readonly number[]
  choose(ids: number[]): void
}

export function Accounts({ accounts, chosen, choose }: AccountsProps) {
  const toggle = (id: number) => choose(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id])
  return (
    <fieldset>
      <legend>Accounts</legend>
      {accounts?.length === 0 && (
        <p class="empty">
          None is connected: connect one in the <a href={addressOf('/dashboard/settings#publishing')}>settings</a>.
        </p>
      )}
      {accounts?.map(({ id, platform, handle, status }) => (
        <label key={id} class="choice">
          <input type="checkbox" checked={chosen.includes(id)} onChange={() => toggle(id)} />
          <bdi>{handle}</bdi>{' '}
          <span class="label">
            {platform}
            {status === 'connected' ? '' : `, ${status}`}
          </span>
        </label>
      ))}
    </fieldset>
  )
}
