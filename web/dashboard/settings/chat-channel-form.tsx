/** A new chat channel, or another name of one and what it gets. Its address is given once, and not shown again. */
import type { ChannelContent, ChatChannelResource } from '../../../schemas/resources/chat-channel.ts'
import { Choices } from '../parts/choices.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { send } from '../requests/query.ts'
import { NamesField, namesIn } from './conversion-names.tsx'

export const contentNames: Readonly<Record<ChannelContent, string>> = {
  weekly: 'weekly',
  monthly: 'monthly',
  alerts: 'alerts',
  failures: 'failed posts',
  conversions: 'conversions',
  payments: 'payments and refunds',
}

interface FormProps {
  /** Undefined: a new one. */
  readonly of: (typeof ChatChannelResource)['_output'] | undefined
  close(): void
  made(channel: unknown): void
}

export function ChannelForm({ of: channel, close, made }: FormProps) {
  const submit = (data: FormData) => {
    const about = { name: data.get('name'), contents: data.getAll('contents'), conversion_names: namesIn(data) }
    if (channel !== undefined) return send('PATCH', `/chat-channels/${channel.id}`, about)
    const kind = data.get('slack') === null ? {} : { kind: 'slack' }
    return send('POST', '/chat-channels', { ...about, ...kind, url: data.get('url') })
  }
  const chosen = channel?.contents.map(({ content }) => content) ?? ['weekly']
  return (
    <FormDialog
      title={channel === undefined ? 'Add a channel' : 'Change this channel'}
      verb={channel === undefined ? 'Add' : 'Save'}
      close={close}
      made={made}
      submit={submit}
    >
      <label>
        Name
        <input name="name" placeholder="#marketing" defaultValue={channel?.name ?? ''} required />
      </label>
      {channel === undefined && (
        <>
          <label>
            Address of its incoming webhook. Whoever knows it can post, so it isn’t shown again.
            <input name="url" type="url" placeholder="https://hooks.slack.com/services/…" autocomplete="off" required />
          </label>
          <label>
            <span>
              <input name="slack" type="checkbox" /> Another server that takes what Slack takes, such as Mattermost
            </span>
          </label>
        </>
      )}
      <Choices
        legend="It gets"
        name="contents"
        values={Object.keys(contentNames)}
        names={contentNames}
        chosen={chosen}
      />
      <NamesField chosen={channel?.conversion_names ?? []} />
    </FormDialog>
  )
}
