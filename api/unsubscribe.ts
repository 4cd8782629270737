/**
 * /unsubscribe/TOKEN: ends reports, alerts, or mails about failed posts or conversions, to an address. Scanners of mail open links, so GET
 * only shows a button; POST ends the mails, as mail programs do by one click (RFC 8058). A token that we didn't make costs
 * no look-up, and a recipient who is gone can't be told from one that was there. Held by test/integration/reports.test.ts.
 */
import type { Postgres } from '../postgres/client.ts'
import { unsubscribe } from '../postgres/tables/messages/report-recipients.ts'
import type { SecretBox } from '../runtime/crypto/secret-box.ts'
import { readUnsubscribeToken, type Subscription } from '../runtime/crypto/unsubscribe-token.ts'
import type { RequestHead } from '../runtime/http/head.ts'
import type { HttpReply } from '../runtime/http/reply.ts'
import type { NoRoute, Route } from '../runtime/http/server.ts'
import { StoreUnavailable } from '../runtime/store-error.ts'
import { unsubscribeBodyBytesMax } from '../schemas/limits/report-limits.ts'
import { awayPage, fault, headedPage } from './dashboard/pages.ts'
import { problemReply } from './transports/rest.ts'

interface UnsubscribeStores {
  readonly pg: Pick<Postgres, 'transaction'>
  readonly box: SecretBox
}

const label = 'unsubscribe'
const address = /^\/unsubscribe\/([\w-]{1,200})$/

/** The mails that a link ends. A recipient without reports gets nothing else either. */
const ended = {
  reports:
    'weekly or monthly reports, no traffic alerts and no mails about failed posts, conversions and payments of this workspace',
  alerts: 'traffic alerts of this workspace',
  failures: 'mails about failed posts of this workspace',
  conversions: 'mails about conversions and payments of this workspace',
} as const
const goesOn = ' Reports, if you get any, go on.'
const left = { reports: '', alerts: goesOn, failures: goesOn, conversions: goesOn } as const

const pages = {
  asked: ({ from }: Subscription) =>
    `<p>Press the button to get no more ${ended[from]}.${left[from]}</p><form class="panel" method="post"><button type="submit">Unsubscribe</button></form>`,
  done: ({ from }: Subscription) =>
    `<p role="status">You are unsubscribed. You get no more ${ended[from]}.${left[from]}</p>`,
} as const
const unknown = fault('This link isn’t whole. Copy it from the mail again.')

/** Undefined for other paths. */
export function routeUnsubscribe(
  { method, path }: RequestHead,
  { pg, box }: UnsubscribeStores,
): Route | NoRoute | undefined {
  const [, token] = address.exec(path) ?? []
  if (token === undefined) return undefined
  const subscription = readUnsubscribeToken(box, token)
  if (subscription === undefined) return { label, reply: page(404, unknown) }
  if (method === 'GET' || method === 'HEAD') return { label, reply: page(200, pages.asked(subscription)) }
  if (method !== 'POST') return { label, reply: problemReply('method_not_allowed', { Allow: 'GET, HEAD, POST' }) }
  return {
    label,
    bodyBytesMax: unsubscribeBodyBytesMax,
    async handle() {
      try {
        await pg.transaction((tx) => unsubscribe(tx, subscription))
      } catch (error) {
        if (error instanceof StoreUnavailable) return awayPage()
        throw error
      }
      return page(200, pages.done(subscription))
    },
  }
}

/** Without a referrer: whoever knows the address can unsubscribe the recipient. */
function page(status: number, content: string): HttpReply {
  const shown = headedPage(status, 'Mails of this workspace', content)
  return { ...shown, headers: { ...shown.headers, 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex' } }
}
