/** The name of the workspace; for a member of several, the choice between them. */
import { inWorkspace } from '../../../schemas/workspace-address.ts'
import { openByKey } from '../parts/choice.tsx'
import { holdRequests, resumeRequests } from '../requests/request.ts'
import type { Joined } from './may.ts'
import { reloadAfterBack } from './reload-after-back.ts'
import { mayLeavePage, stayOnPage } from './unsaved.ts'

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
        const showThis = () => {
          currentTarget.value = String(shown?.id ?? '')
        }
        if (chosen !== all && goToWorkspace(Number(chosen), showThis)) return
        showThis()
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

/**
 * The session goes on there; the page begins anew.
 *
 * @param stays called where the browser is stopped on its way
 * @returns false where something unsaved is to stay
 */
export function goToWorkspace(id: number, stays = () => {}): boolean {
  if (!mayLeavePage()) return false
  holdRequests()
  reloadAfterBack()
  const app = document.getElementById('app')!
  // Until the other page comes, the name above is its own already: nothing of this one is taken for it, or written into it.
  app.inert = true
  const stay = () => {
    app.inert = false
    stayOnPage()
    resumeRequests()
    stays()
  }
  // Older browsers don't tell.
  globalThis.navigation?.addEventListener('navigateerror', stay, { once: true })
  location.assign(inWorkspace('/dashboard', id))
  return true
}
