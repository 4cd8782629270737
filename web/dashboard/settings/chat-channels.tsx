/** Chat channels that get the figures each week or month, traffic alerts, what fails, conversions and payments. */
import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import type { ChatChannels as ChatChannelsResource } from '../../../schemas/resources/chat-channel.ts'
import { Removal } from '../parts/dialog.tsx'
import { Panel } from '../parts/panel.tsx'
import { type Sent, send, useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { type Channel, contentNames } from './channel-fields.ts'
import { ChannelForm } from './chat-channel-form.tsx'
import { namesText } from './conversion-names.tsx'
import { ReportState } from './report-state.tsx'

type Answer = (typeof ChatChannelsResource)['_output']

const kinds: Readonly<Record<Channel['kind'], string>> = {
  slack: 'Slack',
  discord: 'Discord',
  teams: 'Teams',
  google_chat: 'Google Chat',
}

export function ChatChannels({ timezone }: { timezone: string }) {
  const { refusal, done } = useRefusal()
  const [edited, edit] = useState<Channel | 'new'>()
  const [removed, remove] = useState<Channel>()
  const isHurried = ({ channels }: Answer) =>
    channels.some(({ contents }) => contents.some(({ asked }) => asked?.state === 'waiting'))
  const { answer, failure, isComing } = useAnswer<Answer>('/chat-channels', { isHurried })
  return (
    <Panel
      title="Chat channels"
      action={['Add a channel', () => edit('new')]}
      failure={failure}
      refusal={refusal}
      isComing={isComing}
    >
      <p class="note">
        Channels of Slack, Discord, Microsoft Teams and Google Chat get the reports at the same hour as recipients of
        mail. Those that chose conversions or payments are told of them within a minute or two.
      </p>
      <ul>
        {answer?.channels.map((channel) => (
          <OneChannel
            key={channel.id}
            channel={channel}
            timezone={timezone}
            done={done}
            change={() => edit(channel)}
            remove={() => remove(channel)}
          />
        ))}
      </ul>
      {edited && (
        <ChannelForm
          of={edited === 'new' ? undefined : edited}
          close={() => edit(undefined)}
          made={(made) => done({ made })}
        />
      )}
      {removed && (
        <Removal
          title="Remove this channel"
          verb="Remove"
          path={`/chat-channels/${removed.id}`}
          close={() => remove(undefined)}
          done={done}
        >
          <bdi>{removed.name}</bdi> gets nothing more. The address of its webhook is deleted here, not at {removed.host}
          .
        </Removal>
      )}
    </Panel>
  )
}

function isReport({ content }: Channel['contents'][number]): boolean {
  return content === 'weekly' || content === 'monthly'
}

interface ChannelProps {
  readonly channel: Channel
  readonly timezone: string
  done(sent: Sent<unknown>): void
  change(): void
  remove(): void
}

function OneChannel({ channel, timezone, done, change, remove }: ChannelProps) {
  const { id, name, kind, host, ending, contents, is_disabled, failure } = channel
  const tried = contents.some(isReport) ? undefined : contents[0]?.content
  return (
    <li class="event channel">
      <span class="name">
        <bdi>{name}</bdi>{' '}
        <span class="label">
          {kinds[kind]}, {host} …{ending}
        </span>
      </span>
      {is_disabled && <span class="bad">turned off: {failure}</span>}
      {contents.map((one) => {
        // A channel without reports can be tried by one.
        const isSent = isReport(one) || one.content === tried
        return (
          <Fragment key={one.content}>
            <bdi class="label">
              {one.content === 'conversions' ? namesText(channel.conversion_names) : contentNames[one.content]}
            </bdi>
            {isSent && (isReport(one) || one.asked) && <ReportState timezone={timezone} of={one} />}
            {isSent && !is_disabled && (
              <button
                type="button"
                aria-label={`Send one now to ${name}, ${one.content}`}
                aria-disabled={one.asked?.state === 'waiting'}
                onClick={async () => done(await send('POST', `/report-recipients/${one.recipient_id}/send`))}
              >
                Send one now
              </button>
            )}
          </Fragment>
        )
      })}
      {is_disabled && (
        <button
          type="button"
          aria-label={`Turn on ${name}`}
          onClick={async () => done(await send('PATCH', `/chat-channels/${id}`, { is_disabled: false }))}
        >
          Turn on
        </button>
      )}
      <button type="button" aria-label={`Change ${name}`} onClick={change}>
        Change
      </button>
      <button type="button" class="danger" aria-label={`Remove ${name}`} onClick={remove}>
        Remove
      </button>
    </li>
  )
}
