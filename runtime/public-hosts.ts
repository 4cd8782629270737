/** Where the public reaches the product, without a slash at the end. */
export interface PublicHosts {
  readonly apiHost: string
  readonly shortUrlHost: string
}
