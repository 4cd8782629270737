/** Names the account of a post's target: a network may have several. */
import type { Account } from '../posts/post-draft.ts'
import { useAnswer } from '../requests/query.ts'

/** An account keeps its handle. */
const seldomMs = 600_000

export type Handles = ReadonlyMap<number, string>

/** By account; empty until they are known. */
export function useHandles(): Handles {
  const { answer } = useAnswer<Account[]>('/social-accounts', { againMs: seldomMs })
  return new Map(answer?.map(({ id, handle }) => [id, handle]))
}

interface AccountNameProps {
  readonly target: { readonly platform: string; readonly social_account_id: number }
  readonly handles: Handles
}

/** The network alone, where the handle isn't known yet. */
export function AccountName({ target: { platform, social_account_id: id }, handles }: AccountNameProps) {
  const handle = handles.get(id)
  return (
    <>
      {platform}
      {handle !== undefined && (
        <>
          {' '}
          <bdi>{handle}</bdi>
        </>
      )}
    </>
  )
}
