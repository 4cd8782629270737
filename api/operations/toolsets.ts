/**
 * Toolsets: tools for models that the default list has no room for. A client asks for them in its address, as in
 * `/mcp?toolsets=analytics,links`.
 */
export const toolsets = ['analytics', 'publishing', 'links'] as const

export type Toolset = (typeof toolsets)[number]

/** All of them by one name. */
const all = 'all'

/** @param query of the request's target @returns the toolsets that it asks for, without repeats; `unknown`: a name that none has */
export function readToolsets(query: string): ReadonlySet<Toolset> | { readonly unknown: string } {
  const names = new URLSearchParams(query)
    .getAll('toolsets')
    .flatMap((list) => list.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const unknown = names.find((name) => name !== all && !isToolset(name))
  if (unknown !== undefined) return { unknown }
  return new Set(toolsets.filter((name) => names.includes(name) || names.includes(all)))
}

function isToolset(name: string): name is Toolset {
  return (toolsets as readonly string[]).includes(name)
}
