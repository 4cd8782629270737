/** Reads the body of the bots endpoint: visits of crawlers that run no JavaScript, told of by the site's own server. */
import { LRUCache } from 'lru-cache'
import type { BotsBody, BotVisit } from '../schemas/event.ts'
import { hasVisits, validateBotVisit } from '../schemas/event-validator.ts'
import { agentCacheMax } from '../schemas/limits.ts'
import { describeBot } from '../schemas/reference/bots.ts'
import type { Bot } from '../schemas/reference/known-bots.ts'
import { type BotVisitRow, botReporters } from '../schemas/row.ts'
import type { Loc, ValidationError } from '../schemas/validation-errors.ts'
import type { IngestWorkspace, Sender } from './outcome.ts'
import { makeAddressHash } from './steps/address-hash.ts'
import { fillBot, fillLocation, makeBotVisitRow } from './steps/bot-visit.ts'
import { explainTime, timeOf } from './steps/event-time.ts'

/** What the answer says of a visit's bot. */
export interface BotAnswer extends Bot {
  /** Null: nothing to check by. */
  readonly verified: boolean | null
  readonly verification_method: 'none' | 'ip_range' | 'reverse_dns'
}

export interface BotReader {
  /**
   * Gives each valid visit of a valid body to `take`, in order; the row is the reader's own and filled anew for the next.
   * @returns which visits are refused, and whether the body held many
   */
  read(
    body: BotsBody,
    sender: Sender,
    workspace: IngestWorkspace,
    take: (row: BotVisitRow, bot: BotAnswer) => void,
  ): { isBatch: boolean; rejected: { index: number; detail: ValidationError[] }[] }
}

export function makeBotReader({ salts }: { salts: { current(ms: number): Buffer } }): BotReader {
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
    const bot = botOf(visit.user_agent)
    row.workspace_id = workspace.id
    row.occurred_at = time
    row.received_at = sender.receivedAt
    row.reported_by = botReporters.bots_endpoint
    row.status_code = visit.status_code ?? 0
    row.response_ms = Math.round(visit.response_ms ?? 0)
    // Only the address that the sender names is the crawler's: the connection is the site's own server's.
    row.ip_hash = addressHash(workspace.id, visit.ip ?? '', sender.receivedAt)
    row.client_event_id = visit.client_event_id ?? ''
    row.method = (visit.method || 'GET').toUpperCase()
    row.user_agent = visit.user_agent
    fillBot(row, bot)
    fillLocation(row, visit.url, '', visit.referrer ?? '')
    const { name, operator, category } = bot
    return { name, operator, category, verified: null, verification_method: 'none' }
  }

  return {
    read: (body, sender, workspace, take) => {
      const isBatch = hasVisits(body)
      const visits: readonly unknown[] = isBatch ? body.visits : [body]
      const rejected: { index: number; detail: ValidationError[] }[] = []
      for (const [index, visit] of visits.entries()) {
        const loc = isBatch ? ['body', 'visits', index] : ['body']
        const read =
          (isBatch ? validateBotVisit(visit, index) : null) ?? readVisit(visit as BotVisit, loc, sender, workspace)
        if (Array.isArray(read)) rejected.push({ index, detail: read })
        else take(row, read)
      }
      return { isBatch, rejected }
    },
  }
}
