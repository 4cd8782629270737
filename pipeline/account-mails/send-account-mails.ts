/**
 * Sends mails about accounts: a loop of its own beside that of reports, as somebody waits. Postgres holds what is to be sent
 * (postgres/tables/messages/account-mails.ts), so several pipelines share the work.
 *
 * | a process dies …                | afterwards                                                                           |
 * |---------------------------------|--------------------------------------------------------------------------------------|
 * | before the claim                | due as before                                                                        |
 * | after the claim, before its end | taken over after `accountMailClaimMs`: perhaps a second mail, and after another death none |
 *
 * Held by test/integration/account-mails.test.ts.
 */
import type { Queryable } from '../../postgres/client.ts'
import { findInvitation } from '../../postgres/tables/members/invitations.ts'
import { openPasswordReset } from '../../postgres/tables/members/password-resets.ts'
import {
  type AccountMail,
  claimAccountMail,
  dropOldAccountMails,
  endAccountMail,
  listDueAccountMails,
  retryAccountMail,
} from '../../postgres/tables/messages/account-mails.ts'
import { forEachAtMost } from '../../runtime/for-each.ts'
import {
  accountMailClaimMs,
  accountMailRetryDelaysMs,
  accountMailsEveryMs,
  accountMailsReadEach,
  accountMailUncertainAttemptsMax,
} from '../../schemas/limits/account-mail-limits.ts'
import { reportsAtOnce } from '../../schemas/limits/report-limits.ts'
import type { JobLoop } from '../job-loop.ts'
import { type Signals, startMailLoop } from '../mail-loop.ts'
import { type Mailer, MailFailed } from '../reports/mailer.ts'
import type { MessageContext } from '../reports/send-reports.ts'
import { type MailContent, writeInvitationMail, writeResetMail } from './write-account-mail.ts'

/** All that these mails are sent with. */
interface MailContext extends Omit<MessageContext, 'mailer' | 'chat'> {
  readonly mailer: Mailer
}

export function startAccountMailer(context: MailContext): JobLoop {
  const whenFailing = 'mails about accounts can not be sent now'
  return startMailLoop(
    context,
    { name: 'send-account-mails', whenFailing, pauseMs: accountMailsEveryMs },
    sendAccountMails,
  )
}

/** Sends all that is due. @throws the first failure of Postgres */
export async function sendAccountMails(context: MailContext, { stopping, giveUp }: Signals): Promise<void> {
  const { pg, clock } = context
  const now = new Date(clock.now())
  await pg.transaction((tx) => dropOldAccountMails(tx, now))
  const due = await listDueAccountMails(pg, { now, max: accountMailsReadEach })
  await forEachAtMost(reportsAtOnce, due, stopping, (mail) => sendOne(context, mail, giveUp))
}

async function sendOne(context: MailContext, mail: AccountMail, giveUp: AbortSignal): Promise<void> {
  const { pg, clock, mailer, log, metrics } = context
  const { id, email, createdAt } = mail
  const now = clock.now()
  const claimed = await pg.transaction(async (tx) => {
    // Before the claim: whoever changes a password locks the account, too, before the mail.
    const content = await write(context, tx, mail)
    if (content === null) return endAccountMail(tx, mail, 'failed')
    const claim = await claimAccountMail(tx, id, { now: new Date(now), until: new Date(now + accountMailClaimMs) })
    return claim && { claim, content }
  })
  if (claimed === undefined) return
  const { claim, content } = claimed
  const { attempts, uncertain } = claim
  const end = (outcome: 'sent' | 'failed') => {
    metrics.accountMailed(outcome)
    return pg.transaction((tx) => endAccountMail(tx, mail, outcome))
  }
  const giveUpOn = (why: object) => {
    log.warn({ mail: id, ...why }, 'a mail about an account is given up')
    return end('failed')
  }
  if (uncertain > accountMailUncertainAttemptsMax) return giveUpOn({ uncertain })
  try {
    await mailer.send({ ...content, to: email, messageId: `account-${id}-${createdAt.getTime()}` }, giveUp)
    await end('sent')
  } catch (error) {
    if (!(error instanceof MailFailed)) throw error
    const delayMs = accountMailRetryDelaysMs[attempts - 1]
    if (delayMs === undefined) return giveUpOn({ err: error, attempts })
    log.warn({ mail: id, err: error, attempts }, 'a mail about an account could not be sent')
    metrics.accountMailed('retried')
    // Else the claim is left, and taken over when it ends.
    if (!error.isUncertain) await retryAccountMail(pg, id, { claim, dueAt: new Date(clock.now() + delayMs) })
  }
}

/** @returns null where nothing is to be sent: the link doesn't work or can't be read, or nobody may have one */
async function write(
  { box, apiHost, clock }: MailContext,
  tx: Queryable,
  { email, invitationId, sealed }: AccountMail,
): Promise<MailContent | null> {
  const [token, now] = [box.open(sealed), clock.now()]
  // Once SECRET_KEY was lost, whoever waits for it asks again.
  if (token === null) return null
  if (invitationId === null) {
    return (await openPasswordReset(tx, { email, token, now })) ? writeResetMail({ apiHost, token }) : null
  }
  const invitation = await findInvitation(tx, token, now)
  return invitation && writeInvitationMail(invitation, { apiHost, token })
}
