/** The mail server of reports: whether it answers, and takes the user if there is one. Nothing is sent. */
import { makeMailer } from '../../pipeline/reports/mailer.ts'
import type { Postgres } from '../../postgres/client.ts'
import { countAllMailRecipients } from '../../postgres/tables/messages/report-recipients.ts'
import { mailProbeDeadlineMs } from '../../schemas/limits/doctor-limits.ts'
import type { Installation } from '../installation.ts'
import { type Finding, failed, lineOf, ok, warning } from './finding.ts'

const notHere = "isn't in this command's environment"

/**
 * The command's own environment, or else what `npm start` wrote down: services that run elsewhere may have another one.
 *
 * @param wrong settings that can't be used: their own findings say why
 * @param pg undefined where it is down
 */
export async function examineMail(
  { config: { smtpServer, mailFrom }, hasRunningMail }: Installation,
  wrong: ReadonlyMap<string, unknown>,
  pg: Postgres | undefined,
): Promise<Finding[]> {
  if (wrong.has('SMTP_URL') || wrong.has('MAIL_FROM')) return []
  if (smtpServer === undefined && mailFrom === undefined) return [await judgeUnset(hasRunningMail(), pg)]
  if (smtpServer === undefined) return [failed('mail', `SMTP_URL ${notHere}, but MAIL_FROM is: set both or none`)]
  if (mailFrom === undefined) return [failed('mail', `MAIL_FROM ${notHere}, but SMTP_URL is: set both or none`)]
  try {
    await makeMailer(smtpServer, mailFrom, mailProbeDeadlineMs).verify()
  } catch (error) {
    return [failed('mail', `${lineOf(error)}: see whether SMTP_URL is right`)]
  }
  const hasUser = smtpServer.login !== undefined
  return [ok('mail', hasUser ? 'the server answers, and takes the user' : 'the server answers; SMTP_URL has no user')]
}

async function judgeUnset(isSetInServices: boolean, pg: Postgres | undefined): Promise<Finding> {
  const unset = "SMTP_URL and MAIL_FROM aren't in this command's environment"
  if (isSetInServices) return ok('mail', `${unset}, but \`npm start\` has both: the server wasn't asked`)
  const recipients = pg === undefined ? 0 : await countAllMailRecipients(pg)
  if (recipients === 0) return ok('mail', unset)
  const waiting = `reports have ${recipients} ${recipients === 1 ? 'recipient' : 'recipients'}`
  return warning('mail', `${unset}, and ${waiting}: see whether the pipeline's environment has both`)
}
