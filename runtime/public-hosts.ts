/** Where the public reaches the product, without a slash at the end. */
export interface PublicHosts {
  readonly apiHost: string
  readonly shortUrlHost: string
}

/** The path of a root of short links, without a slash at its end; empty where keys stand right behind the host. */
export function shortLinkPathOf(root: string): string {
  return new URL(root).pathname.replace(/\/+$/, '')
}
