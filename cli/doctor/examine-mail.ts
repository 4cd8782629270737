/** The mail server of reports: whether it answers, and takes the user. Nothing is sent. */
import { makeMailer } from '../../pipeline/reports/mailer.ts'
import { probeDeadlineMs } from '../../schemas/limits/doctor-limits.ts'
import type { Installation } from '../installation.ts'
import { type Finding, failed, lineOf, ok } from './finding.ts'

/** @param wrong settings that can't be used: their own findings say why */
export async function examineMail(
  { config: { smtpServer, mailFrom } }: Pick<Installation, 'config'>,
  wrong: ReadonlyMap<string, unknown>,
): Promise<Finding[]> {
  if (wrong.has('SMTP_URL') || wrong.has('MAIL_FROM')) return []
  if (smtpServer === undefined && mailFrom === undefined) return [ok('mail', "isn't set up: no reports are sent")]
  if (smtpServer === undefined) return [failed('mail', "SMTP_URL isn't set, but MAIL_FROM is: no reports are sent")]
  if (mailFrom === undefined) return [failed('mail', "MAIL_FROM isn't set, but SMTP_URL is: no reports are sent")]
  try {
    await makeMailer(smtpServer, mailFrom, probeDeadlineMs).verify()
  } catch (error) {
    return [failed('mail', `${lineOf(error)}: see whether SMTP_URL is right`)]
  }
  return [ok('mail', 'the server answers, and takes the user')]
}
