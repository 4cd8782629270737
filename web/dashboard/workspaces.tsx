/** The name of the workspace; where the owner has several, the choice between them. */
import { useAnswer } from './query.ts'
import { isShared } from './shared-page.ts'

interface Named {
  readonly id: number
  readonly name: string
}

const seldomMs = 300_000

export function WorkspaceName({ id, name }: Named) {
  const { answer = [] } = useAnswer<Named[]>(isShared ? undefined : '/workspaces', { againMs: seldomMs })
  if (answer.length < 2) return <bdi>{name}</bdi>
  return (
    <select aria-label="Workspace" value={id} onChange={(event) => goToWorkspace(Number(event.currentTarget.value))}>
      {answer.map((one) => (
        <option key={one.id} value={one.id}>
          {one.name}
        </option>
      ))}
    </select>
  )
}

/** The session goes on there; the page begins anew. */
export function goToWorkspace(id: number): void {
  const form = document.createElement('form')
  form.method = 'post'
  form.action = '/dashboard/workspace'
  const field = document.createElement('input')
  Object.assign(field, { type: 'hidden', name: 'workspace', value: String(id) })
  form.append(field)
  document.body.append(form)
  form.submit()
}
