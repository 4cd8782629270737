/** The servers of mail and chats, and what the pipeline's senders take to send to them. */
import { sendAlerts } from '../../pipeline/alerts/send-alerts.ts'
import { makeChatPoster } from '../../pipeline/chat/poster.ts'
import type { Signals } from '../../pipeline/mail-loop.ts'
import { makePipelineMetrics } from '../../pipeline/pipeline-metrics.ts'
import { makeMailer } from '../../pipeline/reports/mailer.ts'
import type { ReportContext } from '../../pipeline/reports/send-reports.ts'
import { type Clock, fixedClock } from '../../runtime/clock.ts'
import { readMailFrom, readSmtpUrl } from '../../runtime/mail-settings.ts'
import { makeMetrics } from '../../runtime/metrics.ts'
import { testApiHost } from './api.ts'
import { noChat, setUpChatServer } from './chat-server.ts'
import { silent } from './log-fixture.ts'
import { setUpMailServer } from './mail-server.ts'
import type { TestStores } from './stores.ts'

const { signal } = new AbortController()
/** No sender is told to end. */
export const unstopped: Signals = { stopping: signal, giveUp: signal }

export const mailerAt = (url: string, withinMs?: number) =>
  makeMailer(readSmtpUrl(url)!, readMailFrom('Figures <reports@example.com>')!, withinMs)

/** One look of a pipeline process: its context, without mail and chats where `more` has none, and what it counted. */
export function makeLook(stores: TestStores, clock: Clock, more: Partial<ReportContext> = {}) {
  const metrics = makeMetrics('test', false)
  const context: ReportContext = {
    pg: stores.pg,
    ch: stores.ch,
    box: stores.box,
    apiHost: testApiHost,
    clock,
    mailer: undefined,
    chat: noChat,
    log: silent,
    metrics: makePipelineMetrics(metrics),
    ...more,
  }
  /** @returns the outcomes of its attempts, joined by commas */
  async function outcomes(counter: string): Promise<string> {
    const counted = (await metrics.text()).matchAll(new RegExp(`^svc_${counter}_total\\{outcome="(\\w+)"`, 'gm'))
    return [...counted].map(([, outcome]) => outcome).join()
  }
  return { context, outcomes }
}

/** For the tests of a file. */
export function setUpAlerts(stores: TestStores) {
  const mails = setUpMailServer()
  const chats = setUpChatServer()

  /** One look of a pipeline process, so long from now. */
  async function sendAll(inMs = 1000, pg = stores.pg): Promise<void> {
    const clock = fixedClock(Date.now() + inMs)
    const servers = { mailer: mailerAt(mails.url), chat: makeChatPoster(chats.agent, clock) }
    await sendAlerts(makeLook(stores, clock, { pg, ...servers }).context, unstopped)
  }
  return { mails, chats, sendAll }
}
