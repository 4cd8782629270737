import { searchOf } from './search-of.ts'

/** The address of the page with one parameter more, less or changed. @param search its query. @param value undefined: without it */
export function addressWith(search: string, name: string, value: string | undefined): string {
  const params = new URLSearchParams(search)
  params.delete(name)
  if (value !== undefined) params.set(name, value)
  return location.pathname + searchOf(params)
}
