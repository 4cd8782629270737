/** A chat channel as its form has it, and what was changed there. Pure; test/unit/dashboard-forms.test.ts. */
import type { ChannelContent, ChatChannelResource } from '../../../schemas/resources/chat-channel.ts'
import { changesOf } from '../parts/changes-of.ts'

export type Channel = (typeof ChatChannelResource)['_output']

export const contentNames: Readonly<Record<ChannelContent, string>> = {
  weekly: 'weekly',
  monthly: 'monthly',
  alerts: 'alerts',
  failures: 'failed posts',
  conversions: 'conversions',
  payments: 'payments and refunds',
}

interface ChannelFields {
  readonly name: string
  /** In the order of `contentNames`. */
  readonly contents: readonly string[]
  readonly conversion_names: readonly string[]
}

export const newChannel: ChannelFields = { name: '', contents: ['weekly'], conversion_names: [] }

type Stored = Pick<Channel, 'name' | 'contents' | 'conversion_names'>

export function fieldsOf({ name, contents, conversion_names }: Stored): ChannelFields {
  const isGiven = (one: string) => contents.some(({ content }) => content === one)
  return { name, contents: Object.keys(contentNames).filter(isGiven), conversion_names }
}

/** @param conversion_names those of the form */
export function fieldsIn(data: FormData, conversion_names: readonly string[]): ChannelFields {
  return { name: String(data.get('name')), contents: data.getAll('contents').map(String), conversion_names }
}

export function channelChanges(written: ChannelFields, channel: Stored): Partial<ChannelFields> {
  return changesOf(written, fieldsOf(channel))
}
