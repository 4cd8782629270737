/** Reads the body of the bots endpoint, by which a site's server reports crawlers that run no JavaScript. */
import { LRUCache } from 'lru-cache'
import { type Loc, type ValidationError, valueError } from '../../schemas/errors/validation-errors.ts'
import type { BotsBody, BotVisit } from '../../schemas/event/event.ts'
import { hasVisits, validateBotVisit } from '../../schemas/event/event-validator.ts'
import { identifierOf } from '../../schemas/event/identifiers.ts'
import { type BotVisitRow, botReporters, botVerified, verificationMethods } from '../../schemas/event/row.ts'
import { ipLengthMax, userAgentLengthMax } from '../../schemas/limits/event-limits.ts'
import { agentCacheMax } from '../../schemas/limits/ingest-limits.ts'
import { describeBot } from '../../schemas/reference/bots.ts'
import type { Bot } from '../../schemas/reference/known-bots.ts'
import { makeAddressHash } from '../enrich/address-hash.ts'
import { fillBot, fillLocation, makeBotVisitRow } from '../enrich/bot-visit.ts'
import { explainTime, timeOf } from '../enrich/event-time.ts'
import { isPage } from '../enrich/page-url.ts'
import type { SaltOfDay } from '../enrich/salted-cache.ts'
import type { IngestWorkspace, Sender } from '../event-context.ts'
import type { BotVerifier, ClaimedIdentity, Verification } from '../verify/verify-bot.ts'

/** The bot of a visit, as the answer shows it. */
export interface BotAnswer extends Bot {
  /** Null: nothing to check by. */
  readonly verified: Verification['verified']
  readonly verification_method: Verification['method']
}

export interface BotReader {
  /**
   * Begins the DNS look-ups that verify the crawlers of a body. Resolves when they are answered or their time is up.
   * Null: `read` needn't wait.
   */
  prepare(body: BotsBody): Promise<void> | null
  /**
   * Gives each valid visit of a valid body to `take`, in order. The row is the reader's own and filled anew for the
   * next visit.
   * @param hasUnstorableText some text of the body can't be stored
   * @returns which visits are refused, and whether the body held many
   */
  read(
    body: BotsBody,
    hasUnstorableText: boolean,
    sender: Sender,
    workspace: IngestWorkspace,
    take: (row: BotVisitRow, bot: BotAnswer) => void,
  ): { isBatch: boolean; rejected: { index: number; detail: ValidationError[] }[] }
}

export interface BotReaderOptions {
  readonly salts: SaltOfDay
  readonly verifier: BotVerifier
}

const pageWanted = 'url should be an absolute URL, or a path that begins with a slash'

export function makeBotReader({ salts, verifier }: BotReaderOptions): BotReader {
  const addressHash = makeAddressHash(salts)
  const known = new LRUCache<string, Bot>({ max: agentCacheMax })
  const row = makeBotVisitRow()

  function botOf(userAgent: string): Bot {
    let bot = known.get(userAgent)
    if (bot === undefined) {
      bot = describeBot(userAgent)
      known.set(userAgent, bot)
    }
    return bot
  }

  /** Fills the row, or says why the visit is refused. */
  function readVisit(
    visit: BotVisit,
    loc: Loc,
    sender: Sender,
    workspace: IngestWorkspace,
  ): ValidationError[] | BotAnswer {
    const time = timeOf(visit, sender.receivedAt, workspace.timezone)
    if (Number.isNaN(time)) return explainTime(visit, loc)
    if (!isPage(visit.url)) return [valueError([...loc, 'url'], visit.url, pageWanted)]
    const bot = botOf(visit.user_agent)
    const { verified, method } = verifier.verify({ botName: bot.name, address: visit.ip ?? '' }, sender.receivedAt)
    row.workspace_id = workspace.id
    row.occurred_at = time
    row.received_at = sender.receivedAt
    row.reported_by = botReporters.bots_endpoint
    row.status_code = visit.status_code ?? 0
    row.response_ms = Math.round(visit.response_ms ?? 0)
    // Only the address that the sender names is the crawler's: the connection is the site's own server's.
    row.ip_hash = addressHash(workspace.id, visit.ip ?? '', sender.receivedAt)
    row.client_event_id = identifierOf(visit.client_event_id) ?? ''
    row.method = (visit.method || 'GET').toUpperCase()
    row.user_agent = visit.user_agent
    row.verified = verified === null ? botVerified.unknown : botVerified[verified ? 'yes' : 'no']
    row.verification_method = verificationMethods[method]
    fillBot(row, bot)
    fillLocation(row, visit.url, '', visit.referrer ?? '')
    const { name, operator, category } = bot
    return { name, operator, category, verified, verification_method: method }
  }

  /** The claims of the visits, before each is validated. */
  function* claimsOf(body: BotsBody): Generator<ClaimedIdentity> {
    for (const visit of hasVisits(body) ? body.visits : [body]) {
      const { user_agent: userAgent, ip } = (visit ?? {}) as { user_agent?: unknown; ip?: unknown }
      if (typeof userAgent !== 'string' || typeof ip !== 'string') continue
      if (userAgent.length <= userAgentLengthMax && ip.length <= ipLengthMax) {
        yield { botName: botOf(userAgent).name, address: ip }
      }
    }
  }

  return {
    prepare: (body) => verifier.askFor(claimsOf(body)),
    read: (body, hasUnstorableText, sender, workspace, take) => {
      const isBatch = hasVisits(body)
      const visits: readonly unknown[] = isBatch ? body.visits : [body]
      const rejected: { index: number; detail: ValidationError[] }[] = []
      for (const [index, visit] of visits.entries()) {
        const loc = isBatch ? ['body', 'visits', index] : ['body']
        const faults = isBatch ? validateBotVisit(visit, index, hasUnstorableText) : null
        const read = faults ?? readVisit(visit as BotVisit, loc, sender, workspace)
        if (Array.isArray(read)) rejected.push({ index, detail: read })
        else take(row, read)
      }
      return { isBatch, rejected }
    },
  }
}
