/** Addresses of the dashboard's pages may name a workspace: whoever is a member of several comes from anywhere to the right one. */

const name = 'workspace'

/** @returns the address, naming this workspace and no other. @param address begins with a slash */
export function inWorkspace(address: string, id: number): string {
  const [path, query, fragment] = partsOf(address)
  return `${path}?${[...query, `${name}=${id}`].join('&')}${fragment}`
}

/** @returns the address, naming the workspace that a query names. @param query with or without its question mark */
export function inWorkspaceOf(query: string, address: string): string {
  const id = workspaceIn(query)
  return id === undefined ? address : inWorkspace(address, id)
}

/** @param address a path with its query, or a query that begins with `?` */
export function withoutWorkspace(address: string): string {
  const [path, query, fragment] = partsOf(address)
  return `${path}${query.length > 0 ? '?' : ''}${query.join('&')}${fragment}`
}

/** The query's members but that name. */
function partsOf(address: string): [path: string, query: string[], fragment: string] {
  const [, path = '', query = '', fragment = ''] = /^([^?#]*)\??([^#]*)(.*)$/s.exec(address)!
  return [path, query.split('&').filter((pair) => pair !== '' && !new URLSearchParams(pair).has(name)), fragment]
}

/** @param query with or without its question mark. @returns undefined where it names none */
export function workspaceIn(query: string): number | undefined {
  return workspaceOf(new URLSearchParams(query).get(name))
}

/** @returns undefined for what is no number of a workspace */
export function workspaceOf(text: string | null | undefined): number | undefined {
  return /^[1-9]\d{0,9}$/.test(text ?? '') && Number(text) < 2 ** 31 ? Number(text) : undefined
}
