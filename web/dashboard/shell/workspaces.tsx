/** The name of the workspace; for a member of several, the choice between them. */
import { inWorkspace } from '../../../schemas/workspace-address.ts'
import { openByKey } from '../parts/choice.tsx'
import { endRequests } from '../requests/request.ts'
import type { Joined } from './may.ts'
import { reloadAfterBack } from './reload-after-back.ts'
import { mayLeavePage } from './unsaved.ts'

/** The option that is no workspace. */
const all = 'all'

interface NameProps {
  /** Undefined until it is known. */
  readonly shown: Pick<Joined, 'id' | 'name'> | undefined
  readonly joined: readonly Joined[] | undefined
  /** Leads to the page of all. */
  showAll(): void
}

export function WorkspaceName({ shown, joined = [], showAll }: NameProps) {
  // Whoever is in none of them, as theirs is suspended, gets out by the only other one, too.
  if (joined.length < (shown ? 2 : 1)) return shown ? <bdi>{shown.name}</bdi> : <>Dashboard</>
  return (
    <select
      aria-label="Workspace"
      onKeyDown={openByKey}
      value={shown?.id ?? ''}
      onChange={({ currentTarget }) => {
        const chosen = currentTarget.value
        if (chosen !== all && goToWorkspace(Number(chosen))) return
        currentTarget.value = String(shown?.id ?? '')
        if (chosen === all) showAll()
      }}
    >
      {!shown && (
        <option value="" disabled>
          Choose a workspace
        </option>
      )}
      {joined.map((one) => (
        <option key={one.id} value={one.id}>
          {one.name}
        </option>
      ))}
      <hr />
      <option value={all}>All workspaces</option>
    </select>
  )
}

/** The session goes on there; the page begins anew. @returns false where something unsaved is to stay */
export function goToWorkspace(id: number): boolean {
  if (!mayLeavePage()) return false
  endRequests()
  reloadAfterBack()
  // Until the other page comes, the name above is its own already: nothing of this one is taken for it, or written into it.
  document.getElementById('app')!.inert = true
  location.assign(inWorkspace('/dashboard', id))
  return true
}
