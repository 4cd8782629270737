/** Alerts that wait, and the servers of mail and chats that they are sent to. */
import { sendAlerts } from '../../pipeline/alerts/send-alerts.ts'
import { makeChatPoster } from '../../pipeline/chat/poster.ts'
import { makeMailer } from '../../pipeline/reports/mailer.ts'
import { readMailFrom, readSmtpUrl } from '../../runtime/mail-settings.ts'
import { testApiHost } from './api.ts'
import { setUpChatServer } from './chat-server.ts'
import { jobContext } from './job-context.ts'
import { setUpMailServer } from './mail-server.ts'
import type { TestStores } from './stores.ts'

/** For the tests of a file. */
export function setUpAlerts(stores: TestStores) {
  const mails = setUpMailServer()
  const chats = setUpChatServer()

  /** One look of a pipeline process, so long from now. */
  async function sendAll(inMs = 1000, pg = stores.pg): Promise<void> {
    const { signal, ...job } = jobContext({ pg, ch: stores.ch }, Date.now() + inMs)
    const context = {
      ...job,
      box: stores.box,
      apiHost: testApiHost,
      chat: makeChatPoster(chats.agent, job.clock),
      mailer: makeMailer(readSmtpUrl(mails.url)!, readMailFrom('Figures <reports@example.com>')!),
    }
    await sendAlerts(context, { stopping: signal, giveUp: signal })
  }
  return { mails, chats, sendAll }
}
