/**
 * Payment and sign-in pages. A site sends its visitors there, and they come back: such a referrer tells nothing of where
 * a visit came from (decisions/0026). To add one, add its host, or a word to a line.
 *
 * A host stands for its subdomains too. `*.name` stands for the subdomains alone, without `www`. Visits from a
 * provider's own pages (`ownPages`) stay referrals. Hosts that have other pages besides, such as github.com, are none of
 * these.
 *
 * Held by test/unit/enrich-source.test.ts.
 */
const hosts = `
  checkout.stripe.com buy.stripe.com billing.stripe.com invoice.stripe.com hooks.stripe.com pay.stripe.com verify.stripe.com checkout.link.com
  paypal.com braintreegateway.com
  pay.klarna.com payments.klarna.com checkout.klarna.com login.klarna.com auth.klarna.com
  checkoutshopper-live.adyen.com checkoutshopper-live-us.adyen.com checkoutshopper-live-au.adyen.com checkoutshopper-live-apse.adyen.com checkoutshopper-live-in.adyen.com live.adyen.com adyen.link
  mollie.com
  buy.paddle.com checkout.paddle.com pay.paddle.io
  *.lemonsqueezy.com
  checkout.shopify.com pay.shopify.com accounts.shopify.com shop.app
  checkout.square.site connect.squareup.com checkout.squareup.com square.link
  api.razorpay.com checkout.razorpay.com pages.razorpay.com rzp.io
  portal.afterpay.com portal.clearpay.co.uk
  pay.amazon.com pay.amazon.co.uk pay.amazon.de pay.amazon.co.jp payments.amazon.com payments.amazon.co.uk payments.amazon.de payments.amazon.co.jp payments-eu.amazon.com apay-us.amazon.com
  secure.payu.com secure.payu.in secure.przelewy24.pl secure.tpay.com pay.ideal.nl sofort.com pay.google.com pay.checkout.com 3ds.checkout.com
  secure.worldpay.com payments.worldpay.com secure.2checkout.com accept.authorize.net pay.gocardless.com

  accounts.google.com accounts.youtube.com
  appleid.apple.com idmsa.apple.com
  login.microsoftonline.com login.microsoft.com login.live.com b2clogin.com ciamlogin.com
  *.auth0.com
  *.okta.com *.oktapreview.com *.okta-emea.com *.onelogin.com
  amazoncognito.com authkit.app
  login.yahoo.com login.yahoo.co.jp access.line.me nid.naver.com accounts.kakao.com kauth.kakao.com oauth.vk.com id.vk.com
  api.x.com api.twitter.com id.twitch.tv oauth.telegram.org auth.atlassian.com`

const known: ReadonlySet<string> = new Set(hosts.trim().split(/\s+/))

/** Providers' pages for readers, by how their hosts begin. */
const ownPages = /^(?:blog|community|developers?|docs?|help|marketplace|support)\./

/** Whether a visit from this host, in lower case, is a visitor's return. */
export function isUnwantedReferrer(host: string): boolean {
  if (ownPages.test(host)) return false
  const bare = host.replace(/^www\./, '')
  if (known.has(bare)) return true
  for (let at = bare.indexOf('.') + 1; at > 0; at = bare.indexOf('.', at) + 1) {
    const parent = bare.slice(at)
    if (known.has(parent) || known.has(`*.${parent}`)) return true
  }
  return false
}
