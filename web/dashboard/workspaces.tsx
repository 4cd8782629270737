/** The name of the workspace; for a member of several, the choice between them. */
import type { Joined } from './may.ts'

interface NameProps {
  readonly id: number
  readonly name: string
  readonly joined: readonly Joined[] | undefined
}

export function WorkspaceName({ id, name, joined = [] }: NameProps) {
  if (joined.length < 2) return <bdi>{name}</bdi>
  return (
    <select aria-label="Workspace" value={id} onChange={(event) => goToWorkspace(Number(event.currentTarget.value))}>
      {joined.map((one) => (
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
