/** Where pages of tests find the product. Below `localhost` a page counts as safe, as one over TLS does. */
export const productHost = 'svc.localhost'
export const productRoot = `http://${productHost}`
