/** A new chat channel, or another name of one and what it gets. Its address is given once, and not shown again. */
import { Choices } from '../parts/choices.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { send } from '../requests/query.ts'
import { type Channel, channelChanges, contentNames, fieldsIn, fieldsOf, newChannel } from './channel-fields.ts'
import { NamesField, namesIn } from './conversion-names.tsx'

interface FormProps {
  /** Undefined: a new one. */
  readonly of: Channel | undefined
  close(): void
  made(channel: unknown): void
}

export function ChannelForm({ of: channel, close, made }: FormProps) {
  const submit = (data: FormData) => {
    const written = fieldsIn(data, namesIn(data))
    if (channel) return send('PATCH', `/chat-channels/${channel.id}`, channelChanges(written, channel))
    const kind = data.get('slack') === null ? {} : { kind: 'slack' }
    return send('POST', '/chat-channels', { ...written, ...kind, url: data.get('url') })
  }
  const { name, contents: chosen, conversion_names } = channel ? fieldsOf(channel) : newChannel
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
        <input name="name" placeholder="#marketing" defaultValue={name} required />
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
      <NamesField chosen={conversion_names} />
    </FormDialog>
  )
}
