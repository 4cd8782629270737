/** Pages of figures: they have a range and filters, which go along from one to another, and shared links show them. */
export const figurePages: readonly string[] = ['', '/events', '/funnels', '/retention'].map((end) => `/dashboard${end}`)

/** Where a page of the dashboard is by a shared link. @param address its path, with or without a query */
export function sharedAddress(address: string): string {
  return address.replace('/dashboard', '/shared')
}
