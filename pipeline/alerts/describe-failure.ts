/** The content of a message about a failed post, or about an account to be connected again. Pure; test/integration/failure-alerts.test.ts. */
import type {
  AccountTold,
  FailedFeed,
  FailedPost,
  LostAccount,
  TargetTold,
} from '../../postgres/tables/messages/failures-told.ts'
import { failureRows } from '../../schemas/limits/alert-limits.ts'
import { providers } from '../../schemas/reference/providers.ts'
import { dashboardUrlOf, type Message, plain, type Row, type Table } from '../reports/message.ts'
import { localTime } from './local-time.ts'

interface Place {
  readonly workspace: { readonly id: number; readonly name: string; readonly timezone: string }
  /** Empty where it isn't set. */
  readonly apiHost: string
}

export function describeFailedPost({ title, scheduledAt, targets }: FailedPost, place: Place): Message {
  const failed = targets.filter(({ status }) => status === 'failed')
  const published = targets.filter(({ status }) => status === 'published')
  const lost = failed.filter(({ isConnected }) => !isConnected)
  const time = scheduledAt === null ? 'no time' : localTime(new Date(scheduledAt), place.workspace.timezone)
  return {
    ...frameOf(place),
    headline: `a post failed on ${failed.length} of ${accounts(targets.length)}`,
    note: lost.length > 0 ? `${connectAgain} Then schedule the post anew.` : scheduleAnew,
    dashboardUrl: dashboardUrlOf(place.apiHost, place.workspace, '/dashboard/posts'),
    linkText: 'Posts',
    tables: [
      { title: 'The post', rows: [{ label: plain(title), value: time, note: '' }] },
      tableOf('Failed', failed),
      ...(lost.length > 0 ? [tableOf('To be connected again', lost.map(withoutMessage))] : []),
      ...(published.length > 0 ? [tableOf('Published', published)] : []),
    ],
  }
}

const connectAgain = 'Connect what is named below again: Settings, Accounts.'
const scheduleAnew = 'To schedule it anew publishes it to the accounts that failed, and to no other.'

export function describeExpiredAccount(account: LostAccount, place: Place): Message {
  return {
    ...frameOf(place),
    headline: 'an account needs to be connected again',
    note: `${connectAgain} Until then, posts to it fail.`,
    dashboardUrl: dashboardUrlOf(place.apiHost, place.workspace, '/dashboard/settings'),
    linkText: 'Settings',
    tables: [{ title: 'To be connected again', rows: [rowOf(account)] }],
  }
}

export function describeFailedFeed({ url, message }: FailedFeed, place: Place): Message {
  return {
    ...frameOf(place),
    headline: 'a feed was turned off',
    note: 'It makes no posts any more, for the reason below. Turn it on again once that is gone.',
    dashboardUrl: dashboardUrlOf(place.apiHost, place.workspace, '/dashboard/posts'),
    linkText: 'Posts',
    tables: [{ title: 'The feed', rows: [{ label: plain(url), value: '', note: plain(message) }] }],
  }
}

function frameOf({ workspace }: Place): Pick<Message, 'name' | 'reason'> {
  const name = plain(workspace.name)
  return { name, reason: `You get this because whoever manages ${name} chose failed posts for your address.` }
}

function tableOf(title: string, targets: readonly AccountRow[]): Table {
  const shown = targets.slice(0, failureRows)
  const isCut = targets.length > shown.length
  return { title: isCut ? `${title}, the first ${shown.length} of ${targets.length}` : title, rows: shown.map(rowOf) }
}

type AccountRow = AccountTold & Partial<Pick<TargetTold, 'message'>>

/** Handles and messages are what platforms say. */
function rowOf({ platform, handle, message }: AccountRow): Row {
  return { label: plain(handle), value: providers[platform].label, note: plain(message ?? '') }
}

function withoutMessage({ platform, handle }: TargetTold): AccountRow {
  return { platform, handle }
}

function accounts(count: number): string {
  return `${count} ${count === 1 ? 'account' : 'accounts'}`
}
